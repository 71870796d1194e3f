"""Known causes of another transport than the requested one: locked memory, HCAs, GPUDirect."""

from evidence.diagnosis.cause import HCAS, LATENCY, LINK, STARTED, TRANSPORT, Cause

TRANSPORT_CAUSES: tuple[Cause, ...] = (
    Cause(
        name="memlock",
        shows=r"couldn'?t (?:allocate|create) (?:MR|CQ)|failed to create mr|ibv_(?:reg_mr|create_cq)\S* failed"
        r"|register_mr.*cannot allocate memory|max locked memory \(memlock\) .* too low",
        why="containers may not lock the memory that RDMA needs (R-3.4.3-8, E-19b)",
        remedy="check that the GPU nodes have the memlock drop-in (`machine_config_pool` names their pool; `ulimit -l` "
        "in a pod must print unlimited), and run the workers under the tenant's account, to which the SCC gives "
        "IPC_LOCK (`tenant`)",
        explains=TRANSPORT | LINK | STARTED | {"preflight-gpudirect"},
    ),
    Cause(
        name="ipc-lock",
        shows=r"\bmlock\w*\b.*operation not permitted|ibv_\w+ failed.*operation not permitted|cap_?ipc_lock",
        why="the container lacks the capability IPC_LOCK (R-3.4.3-1)",
        remedy="run the workers under the account that may use the MPI SCC: `tenant` of the workload, not `default`",
        explains=TRANSPORT | LINK | STARTED,
    ),
    Cause(
        name="ib-disabled",
        shows=r"NCCL_IB_DISABLE set (?:by environment )?to 1",
        why="NCCL is configured not to use InfiniBand",
        remedy="leave `transport` of the workload empty or set it to gpudirect, and remove NCCL_IB_DISABLE from "
        "`environment` (R-4.3-4)",
        explains=TRANSPORT | LATENCY,
        ends=False,
    ),
    Cause(
        name="libfabric",
        shows=r"\bvia NET/[\w ]*Libfabric\b|\bvia NET/OFI\b|Using network (?:AWS )?Libfabric",
        why="ranks communicate over libfabric (AWS EFA), which is neither InfiniBand nor TCP",
        remedy="`transport` does not support EFA, and no limit covers it: judge such a job without its fabric, or, "
        "where the nodes have InfiniBand, use an `image` without the aws-ofi-nccl plugin",
        explains=frozenset({"transport-between-nodes", "no-other-network"}),
        ends=False,
    ),
    Cause(
        name="no-ib-device",
        shows=r"NET/IB : No device found|libibverbs: Warning: (?:couldn't load driver|no userspace device-specific)"
        r"|failed to get IB devices list|no IB devices? found|IB device \S+ not found|Unable to find (?:the )?IB dev",
        why="no HCA is in the pod, or the image has no driver for it (R-3.4.2, R-4.3-5)",
        remedy="check that `fabric.plugin` offers rdma/shared_ib* on the node (`./hpc status`) and that `ports` name "
        "existing devices, and use an image with a verbs driver (IBV_DRIVERS in `environment`, `builds` with `ofed`)",
        explains=TRANSPORT | LATENCY | LINK | frozenset({"hcas-used"}),
        ends=False,
    ),
    Cause(
        name="hca-absent",
        shows=r"port \S+ (?:is )?(?:not active|down)|Port number \d+ state is (?:Down|Initialize|Armed)",
        why="an HCA is down, or not in the pod",
        remedy="check its cable and the node's ibstatus, and that `ports` (or the profile) and the resources of "
        "`fabric.plugin` name every HCA",
        explains=TRANSPORT | LINK | HCAS,
    ),
    Cause(
        name="wrong-gid",
        shows=r"got completion .*(?:error|status)[ =]12\b|transport retry counter exceeded"
        r"|ibv_modify_qp failed|failed to modify QP|wrong GID|invalid GID|failed to query gid",
        why="packets do not arrive at the other port: a wrong GID, another subnet, or a port that lost its link",
        remedy="on RoCE, check `fabric.networks.subnets` (a subnet for each rail) and NCCL_IB_GID_INDEX in "
        "`environment`; on InfiniBand, check ibstatus of both nodes, and that one subnet manager runs",
        explains=TRANSPORT | LINK | LATENCY | STARTED,
    ),
    Cause(
        name="gdr-distance",
        shows=r"GPU Direct RDMA Disabled for GPU .*distance",
        why="the GPU is farther from the HCA than NCCL_NET_GDR_LEVEL allows (E-30)",
        remedy="give each pod all `ports` next to its GPUs, and leave the level to the profile: remove "
        "NCCL_NET_GDR_LEVEL from `environment`",
        explains=frozenset({"gpudirect", "bus-bandwidth"}),
        ends=False,
    ),
    Cause(
        name="gdr-off",
        shows=r"NCCL_NET_GDR_LEVEL set (?:by environment )?to (?:0|LOC)\b",
        why="NCCL is configured never to use GPUDirect (E-30)",
        remedy="set `transport` of the workload to gpudirect, and remove NCCL_NET_GDR_LEVEL from `environment`",
        explains=frozenset({"gpudirect", "bus-bandwidth", "average-bus-bandwidth"}),
        ends=False,
    ),
    Cause(
        name="no-peer-memory",
        shows=r"GPU Direct RDMA Disabled for HCA .*|nv_?peer_?mem\w* (?:is )?not (?:loaded|found)"
        r"|peer.?mem\w*: .*(?:unknown symbol|invalid argument)",
        why="the kernel module for GPUDirect (nvidia-peermem, nv_peer_mem) is not loaded (R-3.2.3-3, E-05)",
        remedy="GPUDirect needs the Mellanox driver on the node (`fabric.plugin.driver`, or `host_ofed` where the "
        "nodes have it), and a GPU driver installed after it",
        explains=frozenset(
            {"gpudirect", "bus-bandwidth", "average-bus-bandwidth", "peer-memory", "preflight-gpudirect"}
        ),
        ends=False,
    ),
)
