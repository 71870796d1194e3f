"""Known causes of memory that an adapter cannot register: the error of the call decides which."""

from toolkit.evidence.diagnosis.cause import DIRECT, LINK, REGISTERED, STARTED, TRANSPORT, Cause

_REGISTER = r"(?:ibv|mlx5dv)_\w*reg\w*_mr\w*\b[^:]*?failed"
"""Of verbs, as NCCL (misc/ibvwrap.cc, misc/mlx5dvwrap.cc) and UCX (ib_md.c) print it."""
_CALL = rf"(?:{_REGISTER}|(?:ibv|mlx5dv)_create_(?:cq|qp|srq)\w*\b[^:]*?failed)"
"""The same, and calls whose queues are memory that is locked, too."""
_DMABUF = r"(?:dmabuf|dma-buf)\w*"
_UNSUPPORTED = r"(?:(?:operation|protocol) not (?:supported|available)|function not implemented|is not supported)"
_PERFTEST = r"couldn'?t allocate MR|failed to create mr"

REGISTRATION_CAUSES: tuple[Cause, ...] = (
    Cause(
        name="ipc-lock",
        shows=r"\bmlock\w*\b.*operation not permitted|ibv_\w+ failed.*operation not permitted|cap_?ipc_lock",
        why="the container lacks the capability IPC_LOCK",
        remedy="run the workers under the account that may use the MPI SCC: `tenant` of the workload, not `default`",
        explains=TRANSPORT | LINK | STARTED,
        source="R-3.4.3-1",
    ),
    Cause(
        name="memlock",
        shows=rf"{_PERFTEST}|couldn'?t create CQ|max locked memory(?: \(memlock\) .* too low| \(ulimit -l\))"
        rf"|{_CALL}(?:$|.*cannot allocate memory)|register_mr.*cannot allocate memory",
        why="containers may not lock the memory that RDMA needs",
        remedy="check that the GPU nodes have the memlock drop-in (`machine_config_pool` names their pool; `ulimit -l` "
        "in a pod must print unlimited), and run the workers under the tenant's account, to which the SCC gives "
        "IPC_LOCK (`tenant`)",
        explains=REGISTERED,
        contradicted_by=frozenset({"memlock-unlimited", "gpu-buffers"}),
        source="R-3.4.3-8, E-19b; github.com/openucx/ucx/issues/8229",
    ),
    Cause(
        name="adapter-exhausted",
        shows=rf"{_CALL}.*(?:cannot allocate memory|no space left)|register_mr.*cannot allocate memory",
        why="the adapter cannot register more memory, although any amount may be locked: its own resources, or the "
        "GPU's BAR1, are exhausted",
        remedy="let fewer pods share an HCA (`hca_max`), compare BAR1 of `nvidia-smi -q -d MEMORY` with what is "
        "registered, and read the kernel's messages of mlx5_core on the node",
        explains=REGISTERED,
        source="github.com/openucx/ucx/issues/6264",
    ),
    Cause(
        name="no-dmabuf",
        shows=rf"{_DMABUF}.*{_UNSUPPORTED}",
        why="the GPU driver, the kernel or the adapter's driver cannot share GPU memory as DMA-BUF",
        remedy="set NCCL_DMABUF_ENABLE=0 in `environment` and load nvidia-peermem (`host_ofed`), or use a newer "
        "driver: `gpu.driver.version` with open kernel modules, and `fabric.plugin.driver`",
        explains=REGISTERED | DIRECT,
        source="github.com/NVIDIA/nccl/issues/778",
    ),
    Cause(
        name="gpu-memory",
        shows=rf"{_REGISTER}.*bad address|{_PERFTEST}|failed to register (?:user buffer|address).*mem_type bit 0x2\b"
        r"|failed to register .*\bcuda\b",
        why="the adapter cannot register memory of a GPU: neither a kernel module for GPUDirect nor DMA-BUF gives it "
        "access",
        remedy="GPUDirect needs nvidia-peermem registered with the adapter's driver (`host_ofed`, or "
        "`fabric.plugin.driver`; load it after that driver), or DMA-BUF, so `gpu.driver.version` with open kernel "
        "modules; NCCL_NET_GDR_LEVEL=LOC in `environment` runs without",
        explains=REGISTERED | DIRECT,
        contradicted_by=frozenset({"host-buffers"}),
        source="github.com/openucx/ucx/issues/8999, github.com/openucx/ucx/issues/8049",
    ),
    Cause(
        name="registration-refused",
        shows=rf"{_REGISTER}.*invalid argument",
        why="the adapter's driver refuses how memory is to be registered: with relaxed ordering, or memory that CUDA "
        "maps itself (cuMem), which older drivers do not support",
        remedy="set NCCL_IB_PCI_RELAXED_ORDERING=0, or NCCL_CUMEM_ENABLE=0, in `environment`; or use a newer driver "
        "(`gpu.driver.version`)",
        explains=REGISTERED | DIRECT,
        source="github.com/NVIDIA/nccl/issues/782, github.com/NVIDIA/nccl/issues/1842",
    ),
    Cause(
        name="no-peer-memory",
        shows=r"GPU Direct RDMA Disabled for HCA .*|nv_?peer_?mem\w* (?:is )?not (?:loaded|found)"
        r"|peer.?mem\w*: .*(?:unknown symbol|invalid argument)",
        why="the kernel module for GPUDirect (nvidia-peermem, nv_peer_mem) is not loaded",
        remedy="GPUDirect needs the Mellanox driver on the node (`fabric.plugin.driver`, or `host_ofed` where the "
        "nodes have it), and a GPU driver installed after it",
        explains=DIRECT | {"peer-memory", "preflight-gpudirect"},
        ends=False,
        contradicted_by=frozenset({"peer-memory-loaded"}),
        source="R-3.2.3-3, E-05",
    ),
    Cause(
        name="peer-memory-unregistered",
        shows=r"GPU Direct RDMA Disabled for HCA ",
        why="the kernel module for GPUDirect is loaded, but not registered with the adapters' driver: NCCL before 2.23 "
        "looks for it in /sys/kernel/mm/memory_peers, which the Mellanox driver provides",
        remedy="load nvidia_peermem after the Mellanox driver (`host_ofed`, or `fabric.plugin.driver`), or use DMA-BUF "
        "instead: `gpu.driver.version` with open kernel modules, and an `image` with NCCL 2.23 or later",
        explains=DIRECT | {"preflight-gpudirect"},
        ends=False,
        source="github.com/NVIDIA/nccl/issues/1537, github.com/NVIDIA/nccl/issues/1939; NCCL 2.18 to 2.30, "
        "ncclIbGdrSupport",
    ),
)
