"""Known causes of failures: the line that shows each, why it happens, and which setting repairs it."""

from evidence.diagnosis.cause import DATA, LATENCY, LINK, STARTED, TRANSPORT, Cause
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
        remedy="make the launcher wait for ready workers (the release's MPI operator and `mpi_operator.image`), check "
        "that `isolated` tenants allow their own pods, and read the worker's log",
        explains=STARTED,
    ),
    Cause(
        name="shared-memory",
        shows=r"\bbus error\b|unable to allocate shared memory|creating shared memory segment|posix_fallocate failed"
        r"|/dev/shm.*(?:no space|too small|insufficient)|insufficient shared memory|SIGBUS",
        why="the pod's shared memory is too small (R-4.3-7)",
        remedy="raise `shm_gib` of the workload",
        explains=STARTED,
    ),
    Cause(
        name="nccl-versions",
        shows=r"mismatched NCCL version|version mismatch.*NCCL|NCCL.*version mismatch|incompatible NCCL",
        why="ranks run different versions of NCCL",
        remedy="give all workers the same `image`, with a digest, and remove the node's libraries from LD_LIBRARY_PATH",
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
        remedy="check that `gpu` (operator, or device plugin) runs on the node: `./hpc status` shows what the node "
        "offers",
        explains=STARTED | frozenset({"vector-add", "gpus-present", "device-plugin-registered"}),
    ),
    Cause(
        name="no-way-by-tcp",
        shows=r"call to connect .*failed|bootstrap .*(?:timed out|no route)|no route to host|socketProgress.*closed",
        why="the ranks cannot connect over TCP, which NCCL needs to bootstrap",
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
        why="the image has no NCCL network plugin, which CollNet requires",
        remedy="use an `image` with the RDMA SHARP plugin, or set `fabric.sharp` to false",
        explains=frozenset({"sharp"}),
        ends=False,
    ),
    Cause(
        name="memory",
        shows=r"exited on signal 9|\bOOMKilled\b|(?<!\bran )out of memory|CUDA_ERROR_OUT_OF_MEMORY|ResourceExhausted",
        why="a process was killed because memory ran out",
        remedy="reduce the program's batch size, use GPUs with more memory, or use a `layout` with more GPUs per pod, "
        "which gives a pod more of the node's memory",
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
        remedy="correct `image` of the workload, or give the registry's credentials in `pull_secret`",
    ),
    Cause(
        name="refused",
        shows=r"unable to validate against any security context constraint",
        why="no SCC that the account may use allows what the pod requests (R-3.4.3)",
        remedy="run it under the tenant's account (`tenant`); `./hpc scc` explains which SCC refuses what",
    ),
    Cause(
        name="list-missing",
        shows=r"hpc-data error kind=list-missing",
        why="the list of the data set's files is not on its volume",
        remedy="copy the list from `./hpc data select` to .hpc/lists/<digest>.list on the volume of `data_sets`, or on "
        "its source if the volume is a cache (docs/data.md)",
        explains=DATA,
    ),
    Cause(
        name="data-digest-differs",
        shows=r"hpc-data error kind=(?:digest-differs|counts-differ|slice-differs)",
        why="the list on the volume, or a slice of it, differs from the lock",
        remedy="select the data set again (`./hpc data select`), commit its lock, copy the list to the volume of "
        "`data_sets`, and stage the set",
        explains=DATA,
    ),
    Cause(
        name="label-missing",
        shows=r"hpc-data error kind=files-missing \S+ first=\S*label",
        why="frames of the data set have no labels",
        remedy="add the labels to the source of `data_sets`, or index and select again without these frames",
        explains=DATA,
    ),
    Cause(
        name="data-files-gone",
        shows=r"hpc-data error kind=files-(?:missing|differ)",
        why="files of the data set have been removed or changed since it was locked",
        remedy="restore them at the source of `data_sets`, or index and select again",
        explains=DATA,
    ),
    Cause(
        name="slice-missing",
        shows=r"hpc-data error kind=slice-missing",
        why="a slice wrote no proof to the results that the reducer reads",
        remedy="mount the same writable volume at `results` for all pods, and raise `run`",
        explains=DATA,
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
        why="the number of processes differs from the layout's GPUs",
        remedy="let np and slots follow from `layout`, and the GPUs per process from the catalogue (`program`)",
        explains=STARTED | frozenset({"bus-ids", "hcas-used", "transport-between-nodes", "gpudirect"}),
        ends=False,
    ),
    Cause(
        name="no-gpu-stack",
        shows="",
        why="the node's driver or device plugin is not running (S-7.5)",
        remedy="check the node's taints, and the GPU operator's pods that should run there (`gpu`); `./hpc status` "
        "shows what the node offers",
        explains=frozenset({"nodes-offer"}),
        ends=False,
    ),
    Cause(
        name="overlay-mtu",
        shows="",
        why="the pod network is an overlay with a small MTU (B-7.1)",
        remedy="raise the MTU of the cluster network, or give pods the ports directly: `fabric` of kind roce with "
        "`networks`",
        explains=LATENCY | frozenset({"pod-mtu", "bus-bandwidth", "average-bus-bandwidth"}),
        ends=False,
    ),
    Cause(
        name="no-gpudirect",
        shows="",
        why="NCCL does not use GPUDirect: its kernel module is not loaded, or GPUs are farther from the HCAs than "
        "NCCL_NET_GDR_LEVEL allows (R-3.2.3-3, E-30)",
        remedy="give the nodes the Mellanox driver (`fabric.plugin.driver`, or `host_ofed` where they have it), and "
        "remove NCCL_NET_GDR_LEVEL from `environment`: the profile sets it",
        explains=frozenset({"gpudirect", "bus-bandwidth", "average-bus-bandwidth"}),
        ends=False,
        last_resort=True,
    ),
    Cause(
        name="fell-back",
        shows="",
        why="NCCL fell back to TCP: the job succeeds, but ten times slower",
        remedy="check that pods have the devices (`fabric.plugin`, `./hpc status`) and may lock memory; check "
        "`transport` and `environment` of the workload",
        explains=TRANSPORT | LATENCY | frozenset({"hcas-used"}),
        ends=False,
        last_resort=True,
    ),
    Cause(
        name="not-cached",
        shows="",
        why="nothing of the data set is in the cache when the job starts",
        remedy="raise `run` of the workload of kind stage-data, and make sure that it finishes before the job starts",
        explains=frozenset({"data-set"}),
        ends=False,
    ),
    Cause(
        name="evicted",
        shows="",
        why="files of the data set were evicted from the cache, or only partly fetched, since it was staged",
        remedy="raise `capacity` of the volume, and the soft quota of the cache, above the bytes of all sets on it, "
        "and stage again (raise `run`)",
        explains=frozenset({"data-set", "data-staged"}),
        ends=False,
    ),
    Cause(
        name="single-gpu-pods",
        shows="",
        why="each pod has one GPU, so GPUs of a node communicate over the network instead of NVLink (E-29)",
        remedy="for bandwidth-bound jobs, use a `layout` with all GPUs of a node in one pod",
        explains=frozenset({"single-gpu-pods"}),
        ends=False,
    ),
)
"""Known causes; the first that a line shows is reported."""
