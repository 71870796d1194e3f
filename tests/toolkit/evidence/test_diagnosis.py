"""Known causes, each by the line that shows it."""

import re
from pathlib import Path

import pytest

from stacks.loading.settings import Settings
from tests.support.mutated import read_text
from tests.support.wordings import Wording, wordings
from tests.toolkit.evidence.criteria.cases import (
    ANY,
    DGX,
    MTU,
    NODES,
    ONE_TABLE,
    RDMA,
    RDMA_LOG,
    SINGLE_TABLE,
    SIXTEEN,
    TABLE,
    TWO,
    cluster_node,
    judged,
    nccl,
    slower,
)
from tests.toolkit.evidence.tools.logs import NVIDIA_SMI
from toolkit.evidence.criteria import CRITERIA
from toolkit.evidence.diagnosis import diagnose, reasons
from toolkit.evidence.diagnosis.cause_table import CAUSES, FACTS
from toolkit.evidence.diagnosis.measured_causes import SEEN
from toolkit.evidence.model import NODE_FACTS, NodeFacts
from toolkit.evidence.verdict import Ended, Job, Request, Status
from toolkit.render.reference import tables

_HEAD = "worker-1:30:39 [0]"
LINES = {
    "list-missing": ("hpc-data error kind=list-missing path=/data-sets/x/.hpc/lists/ab.list reason=No_such_file",),
    "data-digest-differs": (
        "hpc-data error kind=digest-differs path=/data-sets/x/.hpc/lists/ab.list found=ac wanted=ab",
        "hpc-data error kind=slice-differs slice=1/4 found=ac wanted=ab",
    ),
    "label-missing": (
        "hpc-data error kind=files-missing files=1 first=20180807_145028/label/cam_front_center/x.png:_No_such_file",
    ),
    "data-files-gone": (
        "hpc-data error kind=files-missing files=1 first=20180807_145028/camera/cam_front_center/x.png:_No_such_file",
        "hpc-data error kind=files-differ files=1 first=a/label/x.png:_7_bytes,_not_8",
    ),
    "slice-missing": ("hpc-data error kind=slice-missing slice=1/4 reason=No_such_file_or_directory",),
    # perftest_resources.c of linux-rdma/perftest; NCCL's ibvwrap.
    "memlock": (
        "Couldn't allocate MR",
        "failed to create mr",
        f"{_HEAD} misc/ibvwrap.cc:284 NCCL WARN Call to ibv_reg_mr failed",
        f"{_HEAD} NCCL WARN Call to ibv_reg_mr_iova2 failed with error Cannot allocate memory",
        "Couldn't create CQ",
    ),
    "ipc-lock": ("mlock: Operation not permitted", "python: missing capability CAP_IPC_LOCK"),
    "ib-disabled": (f"{_HEAD} NCCL INFO NCCL_IB_DISABLE set by environment to 1.",),
    "libfabric": (
        f"{_HEAD} NCCL INFO Using network AWS Libfabric",
        f"{_HEAD} NCCL INFO Channel 00/0 : 0[0] -> 8[0] [send] via NET/AWS Libfabric/0/GDRDMA",
    ),
    "no-verbs-library": (f"{_HEAD} NCCL INFO Failed to open libibverbs.so[.1]",),
    "no-ib-device": (
        f"{_HEAD} NCCL INFO NET/IB : No device found.",
        "libibverbs: Warning: couldn't load driver 'libmlx5-rdmav34.so'",
        "IB device mlx5_7 not found",
    ),
    "hca-absent": (" Port number 1 state is Down",),
    "wrong-gid": (
        f"{_HEAD} NCCL WARN NET/IB : Got completion from peer 10.0.0.2<48> with error 12, opcode 0, len 0",
        f"{_HEAD} NCCL WARN NET/IB : Got completion from peer 10.0.0.2<48> with status=12 opcode=0 len=0",
        f"{_HEAD} NCCL WARN Call to ibv_modify_qp failed with error Connection timed out",
    ),
    "gdr-distance": (
        f"{_HEAD} NCCL INFO NET/IB : GPU Direct RDMA Disabled for GPU 89000[89000] / HCA 0 (distance 4 >= 2)",
        f"{_HEAD} NCCL INFO GPU Direct RDMA Disabled for GPU 6 / HCA 0 (distance 5 > 4)",
    ),
    "gdr-off": (
        f"{_HEAD} NCCL INFO NCCL_NET_GDR_LEVEL set by environment to 0.",
        f"{_HEAD} NCCL INFO NCCL_NET_GDR_LEVEL set by environment to LOC",
    ),
    "no-peer-memory": (f"{_HEAD} NCCL INFO NET/IB : GPU Direct RDMA Disabled for HCA 0 'mlx5_3' (no module)",),
    "too-few-slots": ("There are not enough slots available in the system to satisfy the 32 slots",),
    "workers-not-ready": (
        "ssh: connect to host job-worker-0.job port 22: Connection refused",
        "ssh: Could not resolve hostname job-worker-1.job: Name or service not known",
        'error: unable to upgrade connection: container not found ("worker")',
    ),
    "shared-memory": (
        f"{_HEAD} include/shm.h:28 NCCL WARN Call to posix_fallocate failed : No space left on device",
        "RuntimeError: DataLoader worker (pid 71) is killed by signal: Bus error.",
        f"{_HEAD} include/shm.h:48 NCCL WARN Error while creating shared memory segment nccl-shm-recv-17",
    ),
    "nccl-versions": (f"{_HEAD} NCCL WARN Mismatched NCCL version detected : rank 3 version 2506 rank 0 version 2604",),
    "driver-too-old": ("CUDA driver version is insufficient for CUDA runtime version",),
    "no-gpu": (
        "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.",
        "Test CUDA failure common.cu:801 'no CUDA-capable device is detected'",
    ),
    "no-way-by-tcp": (f"{_HEAD} NCCL WARN Call to connect to 10.0.0.2<4813> failed : Connection timed out",),
    "socket-interface": (f"{_HEAD} NCCL WARN Bootstrap : no socket interface found",),
    "no-collnet-plugin": (f"{_HEAD} NCCL INFO NET/Plugin : No plugin found (libnccl-net.so), using internal",),
    "memory": (
        "mpirun noticed that process rank 3 with PID 91 on node worker-1 exited on signal 9 (Killed).",
        "oom_kill event in step 12.0. Some of the step tasks have been OOM Killed.",
    ),
    "gpu-memory-full": (
        "tensorflow.python.framework.errors_impl.ResourceExhaustedError: OOM when allocating tensor",
        "[rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.",
    ),
    "no-listener": ("Couldn't connect to mofed-test-job-listener:18515",),
    "data-absent": ("python: can't open file 'main.py': [Errno 2] No such file or directory",),
}
SAID = {
    "not-offered": "0/5 nodes are available: 3 Insufficient rdma/shared_ib4, 2 node(s) had untolerated taints.",
    "no-free-gpus": "0/5 nodes are available: 5 Insufficient nvidia.com/gpu.",
    "image": 'Back-off pulling image "nvcr.io/x:1": ErrImagePull',
    "refused": 'pods "x" is forbidden: unable to validate against any security context constraint: [...]',
}


def _names(request: Request, log: str) -> list[str]:
    job = Job(request=request, ended=Ended.UNKNOWN, readings=read_text(log))
    return [one.cause.name for one in diagnose(job)]


@pytest.mark.parametrize(("name", "line"), [(name, line) for name, lines in LINES.items() for line in lines])
def test_a_line_shows_its_cause(name: str, line: str) -> None:
    """Each line of the field shows its cause, and no other (in every spelling)."""
    job = Job(request=TWO, ended=Ended.UNKNOWN, readings=read_text(f"{nccl()}{line}\n{nccl()}"))
    (found,) = diagnose(job)
    assert found.cause.name == name
    assert [proof.text.strip() for proof in found.proofs] == [line.strip()]


@pytest.mark.parametrize("wording", wordings("nccl"), ids=str)
def test_warnings_of_every_release_of_nccl_show_their_causes(wording: Wording) -> None:
    """What each release of NCCL warns of shows its cause; where the error decides, in every spelling."""
    line = f"worker-1:30:39 [0] {wording.file}:158 NCCL WARN {wording.message}\n"
    assert _names(TWO, f"{nccl()}{line}") == ([wording.cause] if wording.cause else [])
    timed = f"[2026-05-06 09:41:10] {line}"  # NCCL 2.26 and later
    assert _names(TWO, f"{nccl()}{timed}") == ([wording.cause] if wording.cause else [])


@pytest.mark.parametrize("wording", [*wordings("pytorch"), *wordings("others")], ids=str)
def test_lines_of_other_projects_show_their_causes(wording: Wording) -> None:
    """What PyTorch, UCX, libfabric, ssh, sshd, Open MPI and the driver print shows its cause, and no other."""
    assert _names(DGX, f"a line of the program\n{wording.message}\n") == ([wording.cause] if wording.cause else [])


_DISABLED = f"{_HEAD} NCCL INFO NET/IB : GPU Direct RDMA Disabled for HCA 0 'mlx5_3'\n"
_LOADED = "Module                  Size  Used by\nnvidia_peermem         12288  0\n"
_NO_MEMORY = (
    f"{_HEAD} misc/ibvwrap.cc:278 NCCL WARN Call to ibv_reg_mr_iova2 failed with error Cannot allocate memory\n"
)


_HIDDEN = "Test CUDA failure common.cu:801 'no CUDA-capable device is detected'\n"
_MESH = "Gloo connectFullMesh failed with [../third_party/gloo/gloo/transport/tcp/pair.cc:144] no error\n"
_FALLBACK = (
    "[rank8]:[W807 10:22:31.114 ProcessGroupGloo.cpp:514] Warning: Unable to resolve hostname to a (local) address. "
    "Using the loopback address as fallback.\n"
)
_LINK_LOCAL = (
    f"{_HEAD} misc/ibvwrap.cc:307 NCCL WARN Call to ibv_modify_qp failed with 110 Connection timed out, on dev "
    "mlx5_1:1, curr state INIT, next state RTR, local GID index 1, local GID fe80::8:1, remote GID fe80::8:2\n"
)
_AGAIN = (Path(__file__).parent / "lost_ranks/nccl/static.log").read_text()
"""Real: torchrun started all again, and the processes connected to those before."""
(_REFUSED,) = re.findall(r"\S+ NCCL WARN .*41005.*", _AGAIN)
CONTRADICTED = (
    (_HIDDEN, ["no-gpu"]),
    (f"{NVIDIA_SMI}{_HIDDEN}", ["gpus-hidden"]),
    (_DISABLED, ["no-peer-memory"]),
    (f"{_LOADED}{_DISABLED}", ["peer-memory-unregistered"]),
    (f"{_LOADED.replace('nvidia_peermem', 'ib_core')}{_DISABLED}", ["no-peer-memory"]),
    (_NO_MEMORY, ["memlock"]),
    (f"$ ulimit -l\nunlimited\n{_NO_MEMORY}", ["adapter-exhausted"]),
    ("$ ib_write_bw --use_cuda=0 -d mlx5_0\nCouldn't allocate MR\n", ["gpu-memory"]),
    ("$ ib_write_bw -d mlx5_0\nCouldn't allocate MR\n", ["memlock"]),
    (_LINK_LOCAL, ["gid-link-local"]),
    (f"{nccl().replace('/IB', '/RoCE')}{_LINK_LOCAL}", ["gid-link-local"]),
    (f"{nccl()}{_LINK_LOCAL}", ["wrong-gid"]),
    (_MESH, ["processes-absent"]),
    (f"{_FALLBACK}{_MESH}", ["loopback-address"]),
    (_AGAIN, ["memory", "former-addresses"]),
    (f"{nccl()}{_HEAD} {_REFUSED.partition(' ')[2]}\n", ["no-way-by-tcp"]),
)


@pytest.mark.parametrize(("log", "names"), CONTRADICTED)
def test_what_contradicts_a_cause_rules_it_out(log: str, names: list[str]) -> None:
    """A cause that other evidence rules out is not shown: the next that the line shows is, or none."""
    assert _names(TWO, log) == names


def test_a_mixed_channel_without_gpudirect_is_not_blocked() -> None:
    """Where NCCL moves host memory only, an access that was refused is none of GPUDirect's."""
    line = f"{_HEAD} NCCL WARN NET/IB : Got completion from peer 10.0.0.2<48> with error 4, opcode 0, len 0\n"
    assert _names(TWO, nccl() + line) == ["gpu-access-blocked"]
    assert _names(TWO, nccl().replace("/GDRDMA", "") + line) == ["no-gpudirect"]


def test_a_symptom_is_shown_only_without_its_reason() -> None:
    """That mpirun lost its daemon, or a rank its peer, explains a failure that nothing else does."""
    keys = 'Load key "/root/.ssh/id_rsa": Permission denied\n'
    lost = "ORTE was unable to reliably start one or more daemons.\n"
    (cause,) = judged(keys + lost, ANY)["complete-logs"].causes
    assert cause.startswith("a worker refuses the launcher's SSH key")
    (alone,) = judged(lost, ANY)["complete-logs"].causes
    assert alone.startswith("mpirun could not start its daemon")


def test_a_failure_of_processes_shows_its_cause() -> None:
    """What PyTorch reports of a program that prints nothing else shows its cause."""
    line = "torch.distributed.DistStoreError: Timed out after 901 seconds waiting for clients. 1/2 clients joined.\n"
    for name in ("no-failure-lines", "processes-together"):
        verdict = judged(line, ANY)[name]
        assert verdict.status is Status.FAIL
        assert verdict.causes[0].startswith("not all of the job's processes joined in time")


def test_a_cause_is_contradicted_by_facts_that_are_there() -> None:
    """Causes name existing facts, each fact rules some cause out, and what rules one out has a meaning to print."""
    named = {name for cause in CAUSES for name in cause.contradicted_by}
    assert named == {fact.name for fact in FACTS}
    assert all(fact.meaning for fact in FACTS)


def test_causes_of_others_messages_name_their_source() -> None:
    """A cause whose line another project prints names the page or the source that says so."""
    of_others = [cause for cause in CAUSES if cause.shows and not cause.shows.startswith("hpc-data ")]
    assert [cause.name for cause in of_others if not cause.source] == []


@pytest.mark.parametrize("name", SAID)
def test_what_the_cluster_says_shows_its_cause(name: str) -> None:
    """A cluster's message for a waiting job shows its cause."""
    assert [cause.name for cause in reasons(SAID[name])] == [name]


def test_figures_show_their_causes() -> None:
    """Figures show the causes that no line does: a port that is down, small packets, one GPU a pod, TCP for RDMA."""
    assert _names(RDMA, RDMA_LOG) == []
    assert _names(RDMA, RDMA_LOG.replace("4: ACTIVE", "1: DOWN", 1)) == ["hca-absent"]
    assert _names(TWO, nccl().replace(" [3]mlx5_0:1/IB", "", 1)) == ["hca-absent"]
    assert _names(DGX, MTU.replace("9000", "1450")) == ["overlay-mtu"]
    assert _names(SIXTEEN, SINGLE_TABLE) == ["single-gpu-pods"]
    assert _names(TWO, ONE_TABLE) == ["other-ranks"]
    assert _names(TWO, nccl().replace("NET/IB/0/GDRDMA", "NET/Socket/0")) == ["fell-back"]
    assert _names(TWO, nccl().replace("/GDRDMA", "")) == ["no-gpudirect"]
    assert _names(DGX, "$ ulimit -l\n64\n") == ["memlock"]
    assert _names(TWO, nccl() + TABLE) == []
    assert _names(TWO, nccl() + slower(TABLE, 2)) == ["pcie-redirected"]
    assert _names(TWO, nccl().replace("/GDRDMA", "") + slower(TABLE, 2)) == ["no-gpudirect"]
    blackwell = TABLE.replace("Tesla V100-SXM2-16GB", "NVIDIA GB200")
    assert _names(TWO, f"NCCL version 2.21.5+cuda12.8\n{blackwell}") == ["nccl-too-old"]
    assert _names(TWO, f"NCCL version 2.25.1+cuda12.8\n{blackwell}") == []
    assert _names(TWO, f"NCCL version 2.21.5+cuda12.8\n{TABLE}") == []
    stall = (
        "[2020: W horovod/common/stall_inspector.cc:105] ranks are waiting for remainder of ranks for more than 60 s\n"
    )
    missing = "HorovodBroadcast_kernel_0 [missing ranks: 1]\n"
    assert _names(DGX, f"{stall}{missing}") == ["horovod-stalled"]
    assert _names(DGX, f"{stall}{missing}Epoch 2/3\n") == []
    seen = "hpc-data name=night digest=ab files=8 bytes=800 cached={} host=train-0\n"
    assert _names(DGX, seen.format("100.0")) == []
    assert _names(DGX, seen.format("0.0")) == ["not-cached"]
    assert _names(DGX, seen.format("87.5")) == ["evicted"]


def test_cluster_nodes_show_their_causes() -> None:
    """A node without GPUs, or a pod network with small packets, shows its cause."""
    rows = tuple(node.model_copy(update={"gpus": 0}) for node in (cluster_node("dgx01"), cluster_node("dgx02")))
    facts = NodeFacts(
        file="(nodes)", tool=NODE_FACTS, complete=True, first_line=1, last_line=1, nodes=rows, pod_mtu=1450
    )
    found = diagnose(Job(request=NODES, ended=Ended.SUCCEEDED, readings=(facts,)))
    assert [(one.cause.name, [proof.text for proof in one.proofs]) for one in found] == [
        ("no-gpu-stack", ["dgx01: 0 GPUs", "dgx02: 0 GPUs"]),
        ("overlay-mtu", ["pod network: MTU 1450"]),
    ]


def test_every_cause_is_shown_by_something() -> None:
    """Every cause has a line, a figure or a cluster's message that shows it, and a name of its own."""
    names = [cause.name for cause in CAUSES]
    assert len({*names}) == len(names)
    told = {one.cause for project in ("nccl", "pytorch", "others") for one in wordings(project) if one.cause}
    left = {name for _, remaining in CONTRADICTED for name in remaining}
    assert {*names} == {*LINES, *SAID, *SEEN, *told, *left}
    assert {cause.name for cause in CAUSES if not cause.shows} <= {*SEEN}


def test_causes_explain_criteria_that_are_there() -> None:
    """Causes explain existing criteria."""
    known = {one.name for one in CRITERIA}
    for cause in CAUSES:
        assert cause.explains <= known, cause.name


def test_remedies_name_settings_that_are_there() -> None:
    """Remedies name existing settings."""
    fields = {name for part in tables.parts(Settings) for name in part.model.model_fields}
    for cause in CAUSES:
        for name in re.findall(r"`([a-z_.]+)`", cause.remedy):
            assert {*name.split(".")} <= fields | {"default"}, f"{cause.name}: {name}"
        assert "`" in cause.remedy, cause.name
