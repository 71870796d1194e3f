"""Known causes of failures: the line that shows each, why it happens, and which setting repairs it."""

from evidence.diagnosis.cause import LATENCY, LINK, STARTED, TRANSPORT, Cause
from evidence.diagnosis.node_causes import NODE_CAUSES
from evidence.diagnosis.transport_causes import TRANSPORT_CAUSES

CAUSES: tuple[Cause, ...] = (
    *TRANSPORT_CAUSES,
    *NODE_CAUSES,
    Cause(
        name="too-few-slots",
        shows=r"not enough slots available|--?np \S+ .*exceeds|more processes than .*slots|Horovod.*slots",
        why="mpirun was started with more processes than the workers have slots (R-4.3-2)",
        remedy="let np follow from `layout` (pods x GPUs); do not set it in the command",
        explains=STARTED,
    ),
    Cause(
        name="workers-not-ready",
        shows=r"ssh: connect to host .*(?:refused|timed out|no route)|could not resolve hostname"
        r"|ORTE (?:was unable to reliably start|has lost communication)|PRTE .*lost communication"
        r"|unable to upgrade connection|error: pod .* not found|container not found|An ORTE daemon has unexpectedly",
        why="the launcher did not reach a worker: it started before the worker was ready, or the worker exited",
        remedy="let the launcher wait for ready workers (the release's MPI operator and `mpi_operator.image`), see "
        "that `isolated` tenants allow their own pods, and read the worker's log",
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
        why="the image needs a newer CUDA than the node's driver supports",
        remedy="raise `gpu.driver.version`, or use an older `image`",
        explains=STARTED | frozenset({"vector-add"}),
    ),
    Cause(
        name="no-gpu",
        shows=r"no CUDA-capable device|NVIDIA-SMI has failed|failed to initialize NVML|couldn'?t communicate with the "
        r"NVIDIA driver|CUDA_ERROR_NO_DEVICE|invalid device ordinal|libcuda\.so\.1: cannot open"
        r"|if this is a GPU node, did you",
        why="the pod sees no GPU, or the node has no driver (S-7.4)",
        remedy="check that `gpu` (operator, or device plugin) runs on the node: `./hpc status` shows what it offers",
        explains=STARTED | frozenset({"vector-add", "gpus-present", "device-plugin-registered"}),
    ),
    Cause(
        name="no-way-by-tcp",
        shows=r"call to connect .*failed|bootstrap .*(?:timed out|no route)|no route to host|socketProgress.*closed",
        why="the ranks cannot connect over TCP, which NCCL starts with",
        remedy="check `fabric.interface` (NCCL_SOCKET_IFNAME) and `isolated`/`reachable_from` of the tenant",
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
        remedy="use an `image` with the RDMA SHARP plugin, or set `fabric.sharp` to false",
        explains=frozenset({"sharp"}),
        ends=False,
    ),
    Cause(
        name="memory",
        shows=r"exited on signal 9|\bOOMKilled\b|(?<!\bran )out of memory|CUDA_ERROR_OUT_OF_MEMORY|ResourceExhausted",
        why="a process was killed because memory ran out",
        remedy="lower the program's batch size, use GPUs with more memory, or a `layout` with more GPUs of a node, "
        "whose share of the node's memory is larger",
        explains=STARTED,
    ),
    Cause(
        name="no-listener",
        shows=r"couldn'?t connect to \S+|unable to (?:init|open) (?:the )?socket connection|failed to exchange data",
        why="ib_write_bw found no listener on the other node (R-4.1-1)",
        remedy="inspect the pod of the RDMA test on `server_node`, and check that both nodes have `hca`",
        explains=LINK,
    ),
    Cause(
        name="not-offered",
        shows=r"insufficient rdma/\S+",
        why="no node offers the RDMA resource that the job requests (R-3.4.2-6)",
        remedy="check `ports` and `fabric.plugin`, which offers only devices that exist; `./hpc status` shows them",
    ),
    Cause(
        name="no-free-gpus",
        shows=r"insufficient nvidia\.com/\S+",
        why="no node has as many free GPUs as a pod of the job requests",
        remedy="use a `layout` with smaller pods (`./hpc place` shows what fits), or wait for other jobs; where a "
        "node offers none, check `gpu`",
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
        why="no SCC that the account may use allows what the pod requests (R-3.4.3)",
        remedy="run it as the tenant's account (`tenant`); `./hpc scc` explains which SCC refuses what",
    ),
    Cause(
        name="data-absent",
        # TensorFlow prints it of libraries that it does without.
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
        remedy="check its taints, and the pods of the GPU operator that should run there (`gpu`); `./hpc status` "
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
        remedy="check whether pods have the devices (`fabric.plugin`, `./hpc status`) and may lock memory, and "
        "`transport` and `environment` of the workload",
        explains=TRANSPORT | LATENCY | frozenset({"hcas-used"}),
        ends=False,
        last_resort=True,
    ),
    Cause(
        name="single-gpu-pods",
        shows="",
        why="each pod has one GPU, so that GPUs of a node communicate over the network and not over NVLink (E-29)",
        remedy="use a `layout` with all GPUs of a node in one pod for jobs that are bound by bandwidth",
        explains=frozenset({"single-gpu-pods"}),
        ends=False,
    ),
)
"""Known causes; the first that a line shows is reported."""
