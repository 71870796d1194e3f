"""Known causes at GPUs: which one a process uses, NVLink between them, and faults."""

from toolkit.evidence.diagnosis.cause import STARTED, TRANSPORT, Cause

GPU_CAUSES: tuple[Cause, ...] = (
    Cause(
        name="duplicate-gpu",
        shows=r"Duplicate GPU detected|multiple ranks (?:detected |are )?using the same GPU",
        why="two processes use the same GPU: a process chose it by its node-local number, and two have the same, or "
        "more processes than GPUs were started",
        remedy="let processes per pod follow from `layout`, and let each choose the GPU of its local rank "
        "(LOCAL_RANK); set no CUDA_VISIBLE_DEVICES in `environment`",
        explains=STARTED,
        source="github.com/NVIDIA/nccl/issues/1241; NCCL 2.18 to 2.30, init.cc",
    ),
    Cause(
        name="pods-as-one-host",
        shows=r"transport/p2p\.cc:\d+ NCCL WARN Cuda failure (?:\d+ )?'invalid device ordinal'"
        r"|attaching to shared memory segment \S+ \(size [1-9]\d*\), error: no such file",
        why="NCCL took the pods of two ranks for one host, but a GPU or the shared memory of the one is not in the "
        "other",
        remedy="use a `layout` with all GPUs of a node in one pod, or give each pod another NCCL_HOSTID in "
        "`environment`; for NVLink between nodes (MNNVL) each pod needs the job's IMEX channel",
        explains=STARTED | TRANSPORT,
        source="github.com/NVIDIA/nccl/issues/1647, github.com/NVIDIA/nccl/issues/1948",
    ),
    Cause(
        name="gpu-number",
        shows=r"invalid device ordinal",
        why="a process chose a GPU that its pod does not have: more processes were started in it than it has GPUs, or "
        "processes of two pods run in one",
        remedy="let np, slots and processes per pod follow from `layout`, and GPUs per process from the catalogue "
        "(`program`)",
        explains=STARTED | {"vector-add"},
        source="github.com/NVIDIA/nccl-tests/issues/263, github.com/NVIDIA/nccl-tests/issues/165",
    ),
    Cause(
        name="nvls-multicast",
        shows=r"nvls\.cc:\d+ NCCL WARN Cuda failure (?:\d+ )?"
        r"'(?:invalid argument|the operation cannot be performed in the present state)'"
        r"|bind NVLink SHARP \(NVLS\) Multicast memory",
        why="NVSwitches refuse multicast memory (NVLS): most often the Fabric Manager was restarted while GPUs were "
        "initialised",
        remedy="drain the node, then reset its GPUs (`nvidia-smi -r`) or reboot it, so that GPUs start after the "
        "Fabric Manager (`gpu`); until then NCCL_NVLS_ENABLE=0 in `environment` runs without NVLS",
        explains=STARTED,
        source="github.com/NVIDIA/nccl/issues/976, github.com/NVIDIA/nccl/issues/1488, "
        "github.com/NVIDIA/nccl/issues/1788; NCCL 2.27 to 2.30, transport/nvls.cc",
    ),
    Cause(
        name="imex-channel",
        shows=r"MNNVL .*(?:not working|not supported) on this system|CUDA_ERROR_NOT_PERMITTED.*cuMemCreate",
        why="NVLink between nodes (MNNVL) needs an IMEX channel in the pod, and the IMEX daemon on all nodes of the "
        "domain",
        remedy="claim a channel of a ComputeDomain for the job's pods (`claim`), and check the daemons with "
        "`nvidia-imex-ctl -N`; NCCL_MNNVL_ENABLE=0 in `environment` runs without",
        explains=STARTED | TRANSPORT,
        source="NCCL 2.25 to 2.30, mnnvl.cc; github.com/NVIDIA/nvbandwidth/issues/39",
    ),
    Cause(
        name="imex-daemon",
        shows=r"cuMemImportFromShareableHandle.*invalid resource handle",
        why="memory of a GPU of another node could not be imported over NVLink: an IMEX daemon of the domain does not "
        "answer, or the nodes are not of one domain",
        remedy="check the daemons of all nodes with `nvidia-imex-ctl -N`, which may hang itself, and reboot the node "
        "that it names; NCCL_MNNVL_ENABLE=0 in `environment` runs without",
        explains=STARTED | TRANSPORT,
        source="github.com/kubernetes-sigs/dra-driver-nvidia-gpu/issues/1417",
    ),
    Cause(
        name="gpu-fault",
        shows=r"\bXid\b.*: (?:48|62|63|64|74|79|92|94|95|119|120|14\d)\b|fallen off the bus"
        r"|uncorrectable (?:ECC|NVLink)|ECC_?UNCORRECTABLE",
        why="a GPU, its memory or its NVLinks have a fault",
        remedy="look the Xid up in NVIDIA's list, drain the node and reset the GPU; if it comes back, replace the "
        "board. `./hpc verify --nodes` tests what is left",
        explains=STARTED,
        source="docs.nvidia.com/deploy/xid-errors",
    ),
    Cause(
        name="nccl-too-old",
        shows="",
        why="the image's NCCL is older than its support of the GPUs",
        remedy="use an `image` with a newer NCCL",
        explains=STARTED,
        ends=False,
        source="github.com/NVIDIA/nccl/issues/1611",
    ),
    Cause(
        name="crash-in-nccl",
        shows=r"libnccl\.so[\w.]*\(\S*\+0x|@ +0x[0-9a-f]+ .*\bnccl[A-Z]\w*\(",
        why="a process crashed within NCCL",
        remedy="use an `image` with another NCCL, whose release notes list the crashes that it ends; "
        "NCCL_MNNVL_ENABLE=0 or NCCL_NVLS_ENABLE=0 in `environment` shows whether NVLink between nodes, or multicast, "
        "is the reason",
        explains=STARTED,
        last_resort=True,
        source="github.com/NVIDIA/nccl/issues/2186",
    ),
)
