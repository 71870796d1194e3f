"""The simulated test of a node: each fault of the node is seen in it, and the evidence finds its cause."""

import io
import logging
import re
from dataclasses import replace

import pytest

from components.jobs.layout import Layout
from core.apis.names import SIMULATED
from core.apis.nccl import Transport
from core.hardware.profiles import PROFILES
from stacks.programs import PROGRAMS
from tests.toolkit.simulator.performance.jobs import launch, readings
from toolkit.evidence.judge import judge
from toolkit.evidence.verdict import Ended, Job, Request, Shape, Status, Verdict
from toolkit.simulator.performance import pod_commands
from toolkit.simulator.performance.job import HEALTHY, Launched, Machine, NodeFaults, Worker, log, read_faults

COMMAND = PROGRAMS["preflight"].started(Layout(pods=1, gpus=8))


def devices(profile: str) -> tuple[str, ...]:
    """Return the HCAs of a machine, of which the pod of a test gets all."""
    return tuple(hca.name for hca in PROFILES[profile].hcas)


def launched(profile: str = "dgx-h100", gpus: int = 8, faults: NodeFaults = HEALTHY, **worker: object) -> Launched:
    """Return the program of stack's settings on a node."""
    machine = Machine("dgx01", PROFILES[profile], memlock_unlimited=True, has_driver=True, faults=faults)
    me = Worker("preflight-dgx01-abcde", machine, tuple(range(gpus)), devices(profile), shm_mib=8192)
    me = replace(me, **worker)  # type: ignore[arg-type]
    return Launched(me=me, image="x", words=COMMAND, run="one", workers=(me,), processes=(me,), machines=(machine,))


def verdicts(job: Launched, profile: str = "dgx-h100") -> dict[str, Verdict]:
    """Return what the evidence says of what a job prints."""
    request = Request(
        job="t/preflight",
        program="preflight",
        prints=("preflight",),
        profile=profile,
        fabric="infiniband",
        shape=Shape(pods=1, gpus=8),
        nodes=("dgx01",),
        devices=devices(profile),
    )
    lines = pod_commands.simulate(job).lines
    (one,) = [Job(request=request, ended=Ended.SUCCEEDED, readings=readings(lines))]
    return {each.criterion: each for each in judge([one])}


@pytest.mark.parametrize("profile", sorted(PROFILES))
def test_a_healthy_node_of_any_machine_passes(profile: str) -> None:
    """On no machine does the test of a sound node fail, whether its GPUs were measured or not."""
    gpus = PROFILES[profile].gpus
    bad = {
        name: one
        for name, one in verdicts(launched(profile, gpus), profile).items()
        if one.status in (Status.FAIL, Status.MISSING) and not (name == "preflight-gpus" and gpus != 8)
    }
    assert bad == {}


@pytest.mark.parametrize(
    ("faults", "criterion", "measured", "cause"),
    [
        (NodeFaults(pcie_width={3: 8}), "preflight-links", "GPU 3 has PCIe width 8, not 16", "reseat the board"),
        (NodeFaults(pcie_width={3: 8}), "preflight-speed", r"GPU 3 has 2\d\.\d GB/s from the host", "reseat the board"),
        (
            NodeFaults(nvlinks_in_recovery={2: 4}),
            "preflight-links",
            "GPU 2 has 14 active NVLinks, not 18",
            "in recovery",
        ),
        (NodeFaults(nvlinks_in_recovery={2: 4}), "preflight-speed", r"GPU 2 to 0 has 30\d", "in recovery"),
        (NodeFaults(sm_mhz={5: 900}), "preflight-speed", r"GPU 5 has 5[45]\d\.\d TFLOP/s in bf16", "nvidia-smi -rgc"),
        (
            NodeFaults(fabric_manager=False),
            "preflight-tests",
            "facts 0 could not be tested: .* system not yet initialized",
            "nvidia-fabricmanager",
        ),
    ],
)
def test_a_fault_is_found_with_its_cause(faults: NodeFaults, criterion: str, measured: str, cause: str) -> None:
    """A criterion fails, with the line of the GPU and the cause."""
    found = verdicts(launched(faults=faults))[criterion]
    assert found.status is Status.FAIL
    assert re.search(measured, found.measured), found.measured
    assert found.proofs
    assert any(cause in one for one in found.causes), found.causes


def test_a_clock_that_power_holds_down_has_no_other_cause() -> None:
    """Under load the clock of a sound GPU is below its highest: its power limit is the reason, and no fault."""
    assert "reasons=0x0000000000000004" in "\n".join(pod_commands.simulate(launched()).lines)
    assert all(not one.causes for one in verdicts(launched()).values())


@pytest.mark.parametrize(
    ("change", "criterion"),
    [
        ({"shm_mib": 64}, "preflight-limits"),
        ({"gpus": 7}, "preflight-gpus"),
        ({"devices": ("mlx5_0",)}, "preflight-devices"),
        ({"devices": ("mlx5_0",)}, "preflight-gpudirect"),
    ],
)
def test_what_a_pod_lacks_fails(change: dict[str, object], criterion: str) -> None:
    """Shared memory that was not mounted, a GPU less, and one device of many."""
    assert verdicts(launched(**change))[criterion].status is Status.FAIL  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("node", "error", "cause"),
    [
        ({"gpudirect": False}, "peermem: Bad address", "nvidia-peermem"),
        ({"memlock_unlimited": False}, "Cannot allocate memory", "memlock drop-in"),
    ],
)
def test_gpu_memory_that_no_adapter_reaches_has_a_cause(node: dict[str, bool], error: str, cause: str) -> None:
    """Without a way to GPUs' memory, and without locked memory, registering fails with an error of its own."""
    job = launched()
    machine = replace(job.me.machine, **node)  # type: ignore[arg-type]
    found = verdicts(replace(job, me=replace(job.me, machine=machine)))["preflight-gpudirect"]
    assert found.status is Status.FAIL
    assert error in found.measured
    assert any(cause in one for one in found.causes), found.causes


def test_a_mesh_has_pairs_without_a_link() -> None:
    """On a DGX-1 two GPUs of different halves have no NVLink: no fault. Its rates were not measured, which is said."""
    lines = pod_commands.simulate(launched("dgx1-v100-16gb")).lines
    assert any("nvlinks=6x" in line for line in lines)
    assert any(line.endswith("peer=no gbs=none") for line in lines)
    assert any(line.startswith(f"{SIMULATED}: no Tesla V100") for line in lines)


def test_faults_that_cannot_be_read_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong annotation breaks no node; the log of the actors says what is wrong."""
    logged = io.StringIO()
    monkeypatch.setattr(log, "handlers", [logging.StreamHandler(logged)])
    assert read_faults('{"pcie_width": {"3": 8}}') == NodeFaults(pcie_width={3: 8})
    assert logged.getvalue() == ""
    assert read_faults('{"pci_width": {"3": 8}}') == HEALTHY
    assert "pci_width" in logged.getvalue()
    assert read_faults(None) == HEALTHY


def test_bridges_that_redirect_are_found_by_a_job_between_nodes_alone() -> None:
    """With ACS the test of a node passes; all-reduce over two is slow, and nothing else is wrong."""
    faults = NodeFaults(acs=True)
    assert {one.status for one in verdicts(launched(faults=faults)).values()} <= {Status.PASS, Status.WARN}
    request = Request(
        job="t/nccl-test-02x08",
        program="nccl-all-reduce",
        prints=("nccl", "nccl-tests"),
        profile="dgx1-v100-16gb",
        fabric="infiniband",
        shape=Shape(pods=2, gpus=8),
        nodes=("dgx01", "dgx02"),
        transport=Transport.GPUDIRECT,
    )
    found = {}
    for known, of_nodes in (("sound", HEALTHY), ("redirected", faults)):
        lines = pod_commands.simulate(launch(2, 8, faults=of_nodes)).lines
        job = Job(request=request, ended=Ended.SUCCEEDED, readings=readings(lines))
        found[known] = {one.criterion: one for one in judge([job])}["bus-bandwidth"]
    assert (found["sound"].status, found["redirected"].status) == (Status.PASS, Status.FAIL)
    (cause,) = found["redirected"].causes
    assert "ACSCtl" in cause
