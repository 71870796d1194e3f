"""Known causes of failures: the line that shows each, why it happens, and which setting repairs it."""

from toolkit.evidence.diagnosis.cause import LATENCY, LINK, STARTED, TRANSPORT, Cause
from toolkit.evidence.diagnosis.data_causes import DATA_CAUSES
from toolkit.evidence.diagnosis.gpu_causes import GPU_CAUSES
from toolkit.evidence.diagnosis.launch_causes import LAUNCH_CAUSES
from toolkit.evidence.diagnosis.memory_causes import MEMORY_CAUSES
from toolkit.evidence.diagnosis.node_causes import NODE_CAUSES
from toolkit.evidence.diagnosis.pytorch_causes import PYTORCH_CAUSES
from toolkit.evidence.diagnosis.registration_causes import REGISTRATION_CAUSES
from toolkit.evidence.diagnosis.transport_causes import TRANSPORT_CAUSES

CAUSES: tuple[Cause, ...] = (
    *REGISTRATION_CAUSES,
    *TRANSPORT_CAUSES,
    *NODE_CAUSES,
    *GPU_CAUSES,
    *LAUNCH_CAUSES,
    *PYTORCH_CAUSES,
    *MEMORY_CAUSES,
    *DATA_CAUSES,
    Cause(
        name="nccl-versions",
        shows=r"mismatched NCCL version|version mismatch.*NCCL|NCCL.*version mismatch|incompatible NCCL"
        r"|NCCL library (?:version )?is (?:too old|not backwards compatible)|compiled with too old version of NCCL",
        why="ranks run different versions of NCCL",
        remedy="give all workers the same `image`, with a digest, and remove the node's libraries from LD_LIBRARY_PATH",
        explains=STARTED,
        source="NCCL 2.18 to 2.30, init.cc and bootstrap.cc",
    ),
    Cause(
        name="driver-too-old",
        shows=r"CUDA driver version is insufficient|forward compatibility was attempted|unsatisfied condition: cuda"
        r"|requires a (?:newer|minimum) (?:NVIDIA )?driver|CUDA Driver version found is \d+\. Minimum requirement",
        why="the image needs a newer CUDA than the node's driver supports",
        remedy="raise `gpu.driver.version`, or use an older `image`",
        explains=STARTED | frozenset({"vector-add"}),
        source="docs.nvidia.com/deploy/cuda-compatibility/index.html",
    ),
    Cause(
        name="no-unified-memory",
        shows=r"\binit\.cc:\d+ NCCL WARN Cuda failure (?:\d+ )?'operation not supported'",
        why="NCCL 2.23 and later need unified memory (UVM), which a virtual GPU does not have",
        remedy="enable unified memory for the virtual machine's GPUs (vGPU parameter enable_uvm), or use an `image` "
        "with NCCL before 2.23",
        explains=STARTED,
        source="docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html (unified memory); "
        "github.com/NVIDIA/nccl/issues/2101",
    ),
    Cause(
        name="no-gpu",
        shows=r"no CUDA-capable device|NVIDIA-SMI has failed|failed to initialize NVML|couldn'?t communicate with the "
        r"NVIDIA driver|CUDA_ERROR_NO_DEVICE|libcuda\.so\.1: cannot open"
        r"|if this is a GPU node, did you",
        why="the pod sees no GPU, or the node has no driver",
        remedy="check that `gpu` (operator, or device plugin) runs on the node: `./hpc status` shows what the node "
        "offers",
        explains=STARTED | frozenset({"vector-add", "gpus-present", "device-plugin-registered"}),
        contradicted_by=frozenset({"gpus-listed"}),
        source="S-7.4; docs.nvidia.com/cuda/cuda-runtime-api/group__CUDART__TYPES.html",
    ),
    Cause(
        name="gpus-hidden",
        shows=r"no CUDA-capable device|CUDA_ERROR_NO_DEVICE",
        why="the driver lists GPUs, but the program is given none: CUDA_VISIBLE_DEVICES hides them, or they are in MIG "
        "mode without instances",
        remedy="remove CUDA_VISIBLE_DEVICES from `environment` and `command`, check the node's layout (`mig`), and "
        "that the pod has /dev/nvidia-uvm",
        explains=STARTED | frozenset({"vector-add"}),
        source="docs.nvidia.com/cuda/cuda-programming-guide/05-appendices/environment-variables.html",
    ),
    Cause(
        name="open-files",
        shows=r"too many open files",
        why="a process has as many open files and sockets as it may: NCCL opens several for each rank",
        remedy="raise the limit in the job's `command` (ulimit -n), or in the container runtime of the nodes",
        explains=STARTED,
        source="github.com/NVIDIA/nccl/issues/550",
    ),
    Cause(
        name="operations-differ",
        shows=r"\bmessage truncated ?: recei|collective mismatch error|mismatch in (?:info|rank count) from procs"
        r"|rank \d+ of \d+ ranks has already checked in|posted incorrect receive info",
        why="ranks started different operations, or operations of different sizes; or two jobs share one address",
        remedy="check that all ranks run the same `command` and `image` with the same NCCL_ variables "
        "(`environment`), and that MASTER_PORT or NCCL_COMM_ID is the job's own",
        explains=STARTED,
        source="NCCL 2.18 to 2.30, bootstrap.cc and transport/net_socket.cc",
    ),
    Cause(
        name="no-way-by-tcp",
        shows=r"(?:call to )?connect to \S+<\d+>.* (?:failed|returned)|call to connect .*failed"
        r"|connect returned .*exceeded error retry|socket(?:Poll|Start)Connect\b.*(?:failed|exceeded|returned)"
        r"|bootstrap .*(?:timed out|no route)|no route to host",
        why="the ranks cannot connect over TCP, which NCCL needs to bootstrap",
        remedy="check `fabric.interface` (NCCL_SOCKET_IFNAME) and `isolated`/`reachable_from` of the tenant",
        explains=STARTED | TRANSPORT,
        source="NCCL 2.18 to 2.30, misc/socket.cc",
    ),
    Cause(
        name="accept-interrupted",
        shows=r"accept failed: interrupted system call",
        why="a signal interrupted NCCL while it waited for a connection, which NCCL before 2.27.3 takes for a failure",
        remedy="use an `image` with NCCL 2.27.3 or later, or start the job again",
        explains=STARTED,
        source="github.com/NVIDIA/nccl/pull/1758",
    ),
    Cause(
        name="socket-interface",
        shows=r"no socket interface found|no usable listening interface found|NET/Socket : no interface found"
        r"|no device found (?:matching|after excluding)|no interface found in the same subnet",
        why="the interface that NCCL_SOCKET_IFNAME or NCCL_OOB_NET_IFNAME names is not in the pod",
        remedy="set `fabric.interface` to one that the pod has (eth0 is the pod network)",
        explains=STARTED | TRANSPORT,
        source="NCCL 2.18 to 2.30, bootstrap.cc",
    ),
    Cause(
        name="no-collnet-plugin",
        shows=r"NET/Plugin *: *No plugin found|NET/Plugin : Could not find: libnccl-net\.so",
        why="the image has no NCCL network plugin, which CollNet requires",
        remedy="use an `image` with the RDMA SHARP plugin, or set `fabric.sharp` to false",
        explains=frozenset({"sharp"}),
        ends=False,
        source="NCCL 2.18 to 2.30, net.cc",
    ),
    Cause(
        name="no-listener",
        shows=r"couldn'?t connect to \S+|unable to (?:init|open) (?:the )?socket connection|failed to exchange data",
        why="ib_write_bw found no listener on the other node",
        remedy="inspect the pod of the RDMA test on `server_node`, and check that both nodes have `hca`",
        explains=LINK,
        source="R-4.1-1; linux-rdma/perftest, perftest_communication.c",
    ),
    Cause(
        name="not-offered",
        shows=r"insufficient rdma/\S+",
        why="no node offers the RDMA resource that the job requests",
        remedy="check `ports` and `fabric.plugin`, which offers only devices that exist; `./hpc status` shows them",
        source="R-3.4.2-6; kubernetes.io/docs/concepts/extend-kubernetes/compute-storage-net/device-plugins/",
    ),
    Cause(
        name="no-free-gpus",
        shows=r"insufficient nvidia\.com/\S+",
        why="no node has as many free GPUs as a pod of the job requests",
        remedy="use a `layout` with smaller pods (`./hpc place` shows what fits), or wait for other jobs; where a "
        "node offers none, check `gpu`",
        source="kubernetes.io/docs/tasks/manage-gpus/scheduling-gpus/",
    ),
    Cause(
        name="image",
        shows=r"\b(?:ErrImagePull|ImagePullBackOff|InvalidImageName|manifest unknown)\b"
        r"|pyxis: failed to import",
        why="the image cannot be pulled",
        remedy="correct `image` of the workload, or give the registry's credentials in `pull_secret`",
        source="kubernetes.io/docs/concepts/containers/images/; NVIDIA/pyxis (its messages)",
    ),
    Cause(
        name="refused",
        shows=r"unable to validate against any security context constraint",
        why="no SCC that the account may use allows what the pod requests",
        remedy="run it under the tenant's account (`tenant`); `./hpc scc` explains which SCC refuses what",
        source="R-3.4.3; "
        "docs.openshift.com/container-platform/4.4/authentication/managing-security-context-constraints.html",
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
        source="Open MPI 5 documentation, launching applications",
    ),
    Cause(
        name="peer-ended",
        shows=r"socketProgress.*closed|Connection (?:closed|reset) by (?:remote )?peer|: Broken pipe"
        r"|got completion .*(?:error |error=|status=(?:\w+\()?)(?:5|13)\b|failed to recv, got 0 bytes"
        r"|remote error detected from rank|Failed to execute operation \w+ from rank"
        r"|Socket recv failed while polling for opId|Error encountered progressing operation",
        why="the other end of a connection ended",
        remedy="read that rank's own log, and the first warning of the job: what ended it is there; if its pod was "
        "evicted, see `./hpc status`",
        explains=STARTED,
        last_resort=True,
        source="NCCL 2.18 to 2.30, misc/socket.cc",
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
        why="the node's driver or device plugin is not running",
        remedy="check the node's taints, and the GPU operator's pods that should run there (`gpu`); `./hpc status` "
        "shows what the node offers",
        explains=frozenset({"nodes-offer"}),
        ends=False,
        source="S-7.5",
    ),
    Cause(
        name="overlay-mtu",
        shows="",
        why="the pod network is an overlay with a small MTU",
        remedy="raise the MTU of the cluster network, or give pods the ports directly: `fabric` of kind roce with "
        "`networks`",
        explains=LATENCY | frozenset({"pod-mtu", "bus-bandwidth", "average-bus-bandwidth"}),
        ends=False,
        source="B-7.1",
    ),
    Cause(
        name="no-gpudirect",
        shows="",
        why="NCCL does not use GPUDirect: its kernel module is not loaded, or GPUs are farther from the HCAs than "
        "NCCL_NET_GDR_LEVEL allows",
        remedy="give the nodes the Mellanox driver (`fabric.plugin.driver`, or `host_ofed` where they have it), and "
        "remove NCCL_NET_GDR_LEVEL from `environment`: the profile sets it",
        explains=frozenset({"gpudirect", "bus-bandwidth", "average-bus-bandwidth"}),
        ends=False,
        last_resort=True,
        source="R-3.2.3-3, E-30",
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
        name="single-gpu-pods",
        shows="",
        why="each pod has one GPU, so GPUs of a node communicate over the network instead of NVLink",
        remedy="for bandwidth-bound jobs, use a `layout` with all GPUs of a node in one pod",
        explains=frozenset({"single-gpu-pods"}),
        ends=False,
        source="E-29",
    ),
)
"""Known causes; the first that a line shows is reported."""
