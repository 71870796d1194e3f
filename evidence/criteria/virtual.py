"""Virtual machines with RoCE: address translation on the way from adapter to GPU, and their NUMA nodes (N-2 to N-4)."""

from evidence.criteria.criterion import Criterion, Found, at, begins, listed, of, passed
from evidence.tools.esxcli_kernel import EsxcliKernel
from evidence.tools.esxcli_pci import EsxcliPci
from evidence.tools.lspci import LsPci, PciDevice
from evidence.tools.mlxconfig import MlxConfig
from evidence.verdict import Job, Status

_NVIDIA, _MELLANOX = "0x10de", "0x15b3"


def _ats_firmware(job: Job) -> Found | None:
    found = of(job, MlxConfig)
    if any(one.ats is None for one in found):
        return Found(Status.MISSING, "output is not whole", proofs=begins(found))
    waits = any(one.reboot_needed for one in found)
    seen = sorted({str(one.ats) for one in found})
    measured = f"{listed(seen)}{', from the next boot on' if waits else ''}"
    return Found(passed(seen == ["on"] and not waits), measured, proofs=begins(found))


def _is_adapter(row: PciDevice) -> bool:
    """Whether it is a whole adapter for RoCE."""
    name, kind = row.name or "", row.kind or ""
    return "Mellanox" in name and "Virtual Function" not in name and kind.startswith("Ethernet")


def _ats_device(job: Job) -> Found | None:
    rows = [(one.file, row) for one in of(job, LsPci) for row in one.rows if row.ats]
    adapters = [(one.file, row) for one in of(job, LsPci) for row in one.rows if _is_adapter(row)]
    # The capability goes when the firmware has it off. To whom is not root lspci shows none, and without -v neither.
    if without := [(file, row) for file, row in adapters if row.capabilities and not row.ats]:
        proofs = tuple(proof for file, row in without for proof in at(file, row.line))
        return Found(Status.FAIL, f"{len(without)} of {len(adapters)} adapters without ATS", proofs=proofs)
    if adapters and not rows:
        return Found(Status.MISSING, "no capabilities shown: ask as root, by lspci -vvv")
    if not rows:
        return None
    off = [(file, row) for file, row in rows if not row.ats_enabled]
    proofs = tuple(proof for file, row in off or rows for proof in at(file, row.line))
    measured = f"off on {len(off)} of {len(rows)} devices" if off else f"on {len(rows)} devices"
    return Found(passed(not off), measured, proofs=proofs)


def _ats_host(job: Job) -> Found | None:
    found = of(job, EsxcliKernel)
    options = [(one.file, option) for one in found if (option := one.option("atsSupport")) is not None]
    if not options:
        return Found(Status.MISSING, "atsSupport is not listed", proofs=begins(found))
    good = all((option.configured, option.runtime) == ("TRUE", "TRUE") for _, option in options)
    _, last = options[-1]
    proofs = tuple(proof for file, option in options for proof in at(file, option.line))
    return Found(passed(good), f"configured {last.configured}, runtime {last.runtime}", proofs=proofs)


def _same_numa(job: Job) -> Found | None:
    rows = [(one.file, row) for one in of(job, EsxcliPci) for row in one.rows]
    both = [row for _, row in rows if row.vendor_id in (_NVIDIA, _MELLANOX)]
    gpus = {row.numa_node for row in both if row.vendor_id == _NVIDIA}
    nics = {row.numa_node for row in both if row.vendor_id == _MELLANOX}
    if not gpus or not nics:
        return Found(Status.MISSING, "not both a GPU and an adapter", proofs=begins(of(job, EsxcliPci)))
    if None in gpus | nics:
        unknown = sum(row.numa_node is None for row in both)
        return Found(Status.MISSING, f"NUMA node of {unknown} devices not shown", proofs=begins(of(job, EsxcliPci)))
    proofs = tuple(proof for file, row in rows if row.vendor_id in (_NVIDIA, _MELLANOX) for proof in at(file, row.line))
    measured = (
        f"GPUs on {listed(map(str, sorted(gpus, key=str)))}, adapters on {listed(map(str, sorted(nics, key=str)))}"
    )
    return Found(passed(gpus <= nics), measured, proofs=proofs)


CRITERIA = (
    Criterion(
        name="ats-firmware",
        title="The adapter's firmware has ATS on",
        limit="ATS_ENABLED on, now",
        unit="",
        tolerance="",
        applies="machines that show mlxconfig",
        source="N-3.6, N-3.7",
        needs=("mlxconfig",),
        look=_ats_firmware,
    ),
    Criterion(
        name="ats-device",
        title="The adapter uses ATS",
        limit="ATSCtl: Enable+",
        unit="devices",
        tolerance="virtual functions, of which not all show it",
        applies="machines that show lspci -vvv of Mellanox's adapters for Ethernet, or the capability of any device",
        source="N-3.9",
        needs=("lspci",),
        look=_ats_device,
    ),
    Criterion(
        name="ats-host",
        title="The host's kernel supports ATS",
        limit="Configured TRUE, Runtime TRUE",
        unit="",
        tolerance="",
        applies="hosts that show esxcli system settings kernel",
        source="N-2.2",
        needs=("esxcli-kernel",),
        look=_ats_host,
    ),
    Criterion(
        name="same-numa-node",
        title="Adapters and GPUs are on the same NUMA nodes",
        limit="each GPU's NUMA node has an adapter",
        unit="",
        tolerance="which machine has which of a host's devices is not told",
        applies="hosts that show esxcli hardware pci",
        source="N-4.2",
        needs=("esxcli-pci",),
        look=_same_numa,
    ),
)
