"""Known causes of failures: the line that shows each, why it happens, and which setting of ours puts it right."""

from evidence.diagnosis.cause import Cause

TRANSPORT = frozenset({"transport-between-nodes", "gpudirect", "bus-bandwidth", "average-bus-bandwidth"})
LATENCY = frozenset({"small-message-latency"})
LINK = frozenset({"ib-write-bandwidth"})
HCAS = frozenset({"hcas-used", "ports-active", "ports-present", "fabric-alike", "rdma-device-files"})
STARTED = frozenset({"ranks-initialised", "ranks-are-gpus"})

CAUSES: tuple[Cause, ...] = (
    Cause(
        name="memlock",
        shows=r"couldn'?t (?:allocate|create) (?:MR|CQ)|failed to create mr|ibv_(?:reg_mr|create_cq)\S* failed"
        r"|register_mr.*cannot allocate memory|max locked memory \(memlock\) .* too low",
        why="containers may not lock the memory that RDMA needs (R-3.4.3-8, E-19b)",
        remedy="let the memlock drop-in reach the GPU nodes (`machine_config_pool` names their pool, `ulimit -l` in a "
        "pod says unlimited), and run the workers as the tenant's account that the SCC gives IPC_LOCK (`tenant`)",
        explains=TRANSPORT | LINK | STARTED,
    ),
    Cause(
        name="ipc-lock",
        shows=r"\bmlock\w*\b.*operation not permitted|ibv_\w+ failed.*operation not permitted|cap_?ipc_lock",
        why="the container lacks the capability IPC_LOCK (R-3.4.3-1)",
        remedy="run the workers as the account that may use the MPI SCC: `tenant` of the workload, and not `default`",
        explains=TRANSPORT | LINK | STARTED,
    ),
    Cause(
        name="ib-disabled",
        shows=r"NCCL_IB_DISABLE set (?:by environment )?to 1",
        why="NCCL was told not to use InfiniBand",
        remedy="leave `transport` of the workload empty or set it to gpudirect, and NCCL_IB_DISABLE out of "
        "`environment` (R-4.3-4)",
        explains=TRANSPORT | LATENCY,
        ends=False,
    ),
    Cause(
        name="no-ib-device",
        shows=r"NET/IB : No device found|libibverbs: Warning: (?:couldn't load driver|no userspace device-specific)"
        r"|failed to get IB devices list|no IB devices? found|IB device \S+ not found|Unable to find (?:the )?IB dev",
        why="no HCA is in the pod, or the image has no driver for it (R-3.4.2, R-4.3-5)",
        remedy="look that `fabric.plugin` offers rdma/shared_ib* on the node (`./hpc status`), that `ports` name "
        "devices that exist, and give images a driver of verbs (IBV_DRIVERS in `environment`, `builds` with `ofed`)",
        explains=TRANSPORT | LATENCY | LINK | frozenset({"hcas-used"}),
        ends=False,
    ),
    Cause(
        name="hca-absent",
        shows=r"port \S+ (?:is )?(?:not active|down)|Port number \d+ state is (?:Down|Initialize|Armed)",
        why="an HCA is down, or not in the pod",
        remedy="look at its cable and at ibstatus of the node, and that `ports` (or the profile) and the resources of "
        "`fabric.plugin` name all of them",
        explains=TRANSPORT | LINK | HCAS,
    ),
    Cause(
        name="wrong-gid",
        shows=r"got completion .*(?:error|status)[ =]12\b|transport retry counter exceeded"
        r"|ibv_modify_qp failed|failed to modify QP|wrong GID|invalid GID|failed to query gid",
        why="packets do not arrive at the other port: a wrong GID, another subnet, or a port that lost its link",
        remedy="on RoCE look at `fabric.networks.subnets` (a subnet for each rail) and NCCL_IB_GID_INDEX in "
        "`environment`; on InfiniBand at ibstatus of both nodes, and that one subnet manager runs",
        explains=TRANSPORT | LINK | LATENCY | STARTED,
    ),
    Cause(
        name="gdr-distance",
        shows=r"GPU Direct RDMA Disabled for GPU .*distance",
        why="the GPU is farther from the HCA than NCCL_NET_GDR_LEVEL allows (E-30)",
        remedy="give each pod all `ports` whose GPUs it has, and leave the level to the profile: no "
        "NCCL_NET_GDR_LEVEL in `environment`",
        explains=frozenset({"gpudirect", "bus-bandwidth"}),
        ends=False,
    ),
    Cause(
        name="gdr-off",
        shows=r"NCCL_NET_GDR_LEVEL set (?:by environment )?to (?:0|LOC)\b",
        why="NCCL was told never to use GPUDirect (E-30)",
        remedy="set `transport` of the workload to gpudirect, and leave NCCL_NET_GDR_LEVEL out of `environment`",
        explains=frozenset({"gpudirect", "bus-bandwidth", "average-bus-bandwidth"}),
        ends=False,
    ),
    Cause(
        name="no-peer-memory",
        shows=r"GPU Direct RDMA Disabled for HCA .*|nv_?peer_?mem\w* (?:is )?not (?:loaded|found)"
        r"|peer.?mem\w*: .*(?:unknown symbol|invalid argument)",
        why="the kernel module for GPUDirect (nvidia-peermem, nv_peer_mem) is not loaded (R-3.2.3-3, E-05)",
        remedy="GPUDirect needs Mellanox's driver on the node: `fabric.plugin.driver`, or `host_ofed` where the nodes "
        "have it, and a driver of the GPUs that came after it",
        explains=frozenset({"gpudirect", "bus-bandwidth", "average-bus-bandwidth", "peer-memory"}),
        ends=False,
    ),
    Cause(
        name="too-few-slots",
        shows=r"not enough slots available|--?np \S+ .*exceeds|more processes than .*slots|Horovod.*slots",
        why="mpirun was asked for more processes than the workers have slots (R-4.3-2)",
        remedy="let np follow from `layout` (pods x GPUs); do not write it by hand",
        explains=STARTED,
    ),
    Cause(
        name="workers-not-ready",
        shows=r"ssh: connect to host .*(?:refused|timed out|no route)|could not resolve hostname"
        r"|ORTE (?:was unable to reliably start|has lost communication)|PRTE .*lost communication"
        r"|unable to upgrade connection|error: pod .* not found|container not found|An ORTE daemon has unexpectedly",
        why="the launcher did not reach a worker: it began before the worker was ready, or the worker ended",
        remedy="let the launcher wait for ready workers (the release's MPI operator and `mpi_operator.image`), see "
        "that `isolated` tenants allow their own pods, and look at the worker's log",
        explains=STARTED,
    ),
    Cause(
        name="shared-memory",
        shows=r"\bbus error\b|unable to allocate shared memory|creating shared memory segment|posix_fallocate failed"
        r"|/dev/shm.*(?:no space|too small|insufficient)|insufficient shared memory|SIGBUS",
        why="the shared memory of the pod is too small (R-4.3-7)",
        remedy="raise `shm_gib` of the workload",
        explains=STARTED,
    ),
    Cause(
        name="nccl-versions",
        shows=r"mismatched NCCL version|version mismatch.*NCCL|NCCL.*version mismatch|incompatible NCCL",
        why="ranks run different versions of NCCL",
        remedy="give all workers one `image` with a digest, and no libraries of the node's in LD_LIBRARY_PATH",
        explains=STARTED,
    ),
    Cause(
        name="driver-too-old",
        shows=r"CUDA driver version is insufficient|forward compatibility was attempted|unsatisfied condition: cuda"
        r"|requires a (?:newer|minimum) (?:NVIDIA )?driver",
        why="the image wants a newer CUDA than the node's driver has",
        remedy="raise `gpu.driver.version`, or take an older `image`",
        explains=STARTED | frozenset({"vector-add"}),
    ),
    Cause(
        name="no-gpu",
        shows=r"no CUDA-capable device|NVIDIA-SMI has failed|failed to initialize NVML|couldn'?t communicate with the "
        r"NVIDIA driver|CUDA_ERROR_NO_DEVICE|invalid device ordinal|libcuda\.so\.1: cannot open"
        r"|if this is a GPU node, did you",
        why="the pod sees no GPU, or the node has no driver (S-7.4)",
        remedy="look that `gpu` (operator, or device plugin) runs on the node: `./hpc status` shows what it offers",
        explains=STARTED | frozenset({"vector-add", "gpus-present", "device-plugin-registered"}),
    ),
    Cause(
        name="no-way-by-tcp",
        shows=r"call to connect .*failed|bootstrap .*(?:timed out|no route)|no route to host|socketProgress.*closed",
        why="the ranks cannot talk over TCP, which NCCL begins with",
        remedy="see `fabric.interface` (NCCL_SOCKET_IFNAME) and `isolated`/`reachable_from` of the tenant",
        explains=STARTED | TRANSPORT,
    ),
    Cause(
        name="socket-interface",
        shows=r"no socket interface found|bootstrap : no socket interface",
        why="the interface that NCCL_SOCKET_IFNAME names is not in the pod",
        remedy="set `fabric.interface` to one that the pod has (eth0 is the pod network)",
        explains=STARTED | TRANSPORT,
    ),
    Cause(
        name="no-collnet-plugin",
        shows=r"NET/Plugin *: *No plugin found|NET/Plugin : Could not find: libnccl-net\.so",
        why="the image has no network plugin of NCCL, without which there is no CollNet",
        remedy="take an `image` with the RDMA SHARP plugin, or set `fabric.sharp` to false",
        explains=frozenset({"sharp"}),
        ends=False,
    ),
    Cause(
        name="memory",
        shows=r"exited on signal 9|\bOOMKilled\b|(?<!\bran )out of memory|CUDA_ERROR_OUT_OF_MEMORY|ResourceExhausted",
        why="a process was ended for want of memory",
        remedy="lower the program's batch size, take GPUs with more memory, or a `layout` with more GPUs of a node, "
        "whose share of the node's memory is larger",
        explains=STARTED,
    ),
    Cause(
        name="no-listener",
        shows=r"couldn'?t connect to \S+|unable to (?:init|open) (?:the )?socket connection|failed to exchange data",
        why="ib_write_bw found nobody that listens on the other node (R-4.1-1)",
        remedy="look at the pod of the RDMA test on `server_node`, and that both nodes have `hca`",
        explains=LINK,
    ),
    Cause(
        name="not-offered",
        shows=r"insufficient rdma/\S+",
        why="no node offers the RDMA resource that the job asks for (R-3.4.2-6)",
        remedy="look at `ports` and `fabric.plugin`, which offers only devices that exist; `./hpc status` shows them",
    ),
    Cause(
        name="no-free-gpus",
        shows=r"insufficient nvidia\.com/\S+",
        why="no node has as many free GPUs as a pod of the job asks for",
        remedy="take a `layout` with smaller pods (`./hpc place` shows what fits), or wait for other jobs; where a "
        "node offers none, see `gpu`",
    ),
    Cause(
        name="image",
        shows=r"\b(?:ErrImagePull|ImagePullBackOff|InvalidImageName|manifest unknown)\b",
        why="the image cannot be pulled",
        remedy="correct `image` of the workload, or give the registry's account in `pull_secret`",
    ),
    Cause(
        name="refused",
        shows=r"unable to validate against any security context constraint",
        why="no SCC that the account may use allows what the pod asks for (R-3.4.3)",
        remedy="run it as the tenant's account (`tenant`); `./hpc scc` explains which SCC refuses what",
    ),
    Cause(
        name="data-absent",
        # TensorFlow says it of libraries that it does without.
        shows=r"^(?!.*(?:dso_loader|dlerror)).*no such file or directory|ModuleNotFoundError|can'?t open file"
        r"|mpirun was unable to (?:find|launch)"
        r"|unable to access the executable|executable file not found",
        why="the program or its data is not where the job looks",
        remedy="put it on the tenant's volume (`data`), or build it into the image (`builds`, `build` of the workload)",
        explains=STARTED,
    ),
    Cause(
        name="other-ranks",
        shows="",
        why="other processes ran than the layout has GPUs",
        remedy="let np and slots follow from `layout`, and GPUs of a process from the catalogue (`program`)",
        explains=STARTED | frozenset({"bus-ids", "hcas-used", "transport-between-nodes", "gpudirect"}),
        ends=False,
    ),
    Cause(
        name="no-gpu-stack",
        shows="",
        why="the node's driver or device plugin does not run (S-7.5)",
        remedy="look at its taints, and at the pods of the GPU operator that should be there (`gpu`); `./hpc status` "
        "shows what it offers",
        explains=frozenset({"nodes-offer"}),
        ends=False,
    ),
    Cause(
        name="overlay-mtu",
        shows="",
        why="the pod network is an overlay with small packets (B-7.1)",
        remedy="raise the MTU of the cluster network, or give pods the ports themselves: `fabric` of kind roce with "
        "`networks`",
        explains=LATENCY | frozenset({"pod-mtu", "bus-bandwidth", "average-bus-bandwidth"}),
        ends=False,
    ),
    Cause(
        name="no-gpudirect",
        shows="",
        why="NCCL does not use GPUDirect: its kernel module is not loaded, or GPUs are farther from the HCAs than "
        "NCCL_NET_GDR_LEVEL allows (R-3.2.3-3, E-30)",
        remedy="give the nodes Mellanox's driver (`fabric.plugin.driver`, or `host_ofed` where they have it), and "
        "leave NCCL_NET_GDR_LEVEL out of `environment`: it follows from the profile",
        explains=frozenset({"gpudirect", "bus-bandwidth", "average-bus-bandwidth"}),
        ends=False,
        last_resort=True,
    ),
    Cause(
        name="fell-back",
        shows="",
        why="NCCL fell back to TCP: the job succeeds, ten times slower",
        remedy="see whether pods have the devices (`fabric.plugin`, `./hpc status`) and may lock memory, and what "
        "`transport` and `environment` of the workload say",
        explains=TRANSPORT | LATENCY | frozenset({"hcas-used"}),
        ends=False,
        last_resort=True,
    ),
    Cause(
        name="single-gpu-pods",
        shows="",
        why="each pod has one GPU, so that GPUs of a node talk over the network and not over NVLink (E-29)",
        remedy="take a `layout` with all GPUs of a node in one pod for jobs that are bound by bandwidth",
        explains=frozenset({"single-gpu-pods"}),
        ends=False,
    ),
)
"""Known causes; the first that shows itself is told first."""
