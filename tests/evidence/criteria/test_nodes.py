"""How nodes and adapters are set up, where a pair of logs does not say it all."""

from evidence.criteria import CRITERIA
from evidence.verdict import Asked, Ended, Job, Status
from tests.evidence.criteria.cases import ANY, DGX, ESXI, ETHERNET, SECOND_PORT, changed, document
from tests.evidence.tools.test_bonding import BOND
from tests.support.mutated import read_text

BY_NAME = {one.name: one for one in CRITERIA}
HEAD = "3b:00.0 Ethernet controller: Mellanox Technologies MT28908 Family [ConnectX-6]\n"
OTHER = "\tCapabilities: [60] Express (v2) Endpoint, MSI 00\n"
"""In the form of `lspci -vvv` of pciutils."""
CAPABILITY = (
    "\tCapabilities: [480 v1] Address Translation Service (ATS)\n\t\tATSCtl: Enable+, Smallest Translation Unit: 00\n"
)


def status(name: str, log: str, asked: Asked = ANY) -> Status | None:
    """Return how a log comes out."""
    found = BY_NAME[name].verdict(Job(asked=asked, ended=Ended.UNKNOWN, readings=read_text(log)))
    return found.status if found else None


def test_newer_gpus_need_no_module() -> None:
    """Prevents a DGX A100 from failing, whose GPUs an HCA reaches by dma-buf."""
    lsmod = changed(document("lsmod/r-3.2.3-3.log"), ("nv_peer_mem 13163 0\n", ""))
    assert status("peer-memory", lsmod, DGX) is Status.FAIL
    assert status("peer-memory", lsmod, DGX.model_copy(update={"profile": "dgx-a100"})) is None


def test_a_bond_has_ports() -> None:
    """Prevents a bond without a port from passing, because none of its ports is down."""
    bond = changed(BOND, *SECOND_PORT)
    assert status("bond-up", bond, ETHERNET) is Status.PASS
    assert status("bond-up", bond[: bond.index("Slave Interface")], ETHERNET) is Status.MISSING


def test_an_adapter_without_ats_is_seen() -> None:
    """Prevents ATS that is off in firmware, where lspci does not name it, from passing."""
    assert status("ats-device", HEAD + OTHER + CAPABILITY) is Status.PASS
    assert status("ats-device", HEAD + OTHER) is Status.FAIL
    assert status("ats-device", f"{HEAD}\tCapabilities: <access denied>\n") is Status.MISSING
    assert status("ats-device", changed(HEAD, ("Ethernet", "Infiniband")) + OTHER) is None


def test_numa_nodes_that_are_not_shown_are_not_the_same() -> None:
    """Prevents devices of which no NUMA node is told from being on the same one."""
    assert status("same-numa-node", ESXI) is Status.PASS
    assert status("same-numa-node", ESXI.replace("NUMA Node: 0", "NUMA Node: -1")) is Status.MISSING
