"""Known causes that PyTorch reports: its store, rendezvous, torchrun and the watchdog over NCCL."""

from toolkit.evidence.diagnosis.cause import STARTED, Cause

TOGETHER = frozenset({"processes-together"})

PYTORCH_CAUSES: tuple[Cause, ...] = (
    Cause(
        name="port-in-use",
        shows=r"has failed to (?:bind to|listen on) .*(?:errno: 98\b|address already in use)|\bEADDRINUSE\b"
        r"|\[Errno 98\]|could not be initialized on any address for port|call to bind failed ?: address already in use",
        why="another process already listens on the port at which the job's processes meet",
        remedy="give each job in one network namespace another port (MASTER_PORT in `environment`, or "
        "--rdzv-endpoint host:0 in `command`), and start torchrun once in a pod",
        explains=STARTED | TOGETHER,
        source="github.com/pytorch/pytorch/issues/91940, github.com/pytorch/pytorch/issues/126510",
    ),
    Cause(
        name="name-unresolved",
        shows=r"The (?:IPv4 )?network addresses of \([^)]*\) cannot be retrieved|RendezvousConnectionError.*gai error"
        r"|: host not found: ",
        why="the name of the first process's pod cannot be resolved: its service or pod does not exist yet, or DNS "
        "does not answer",
        remedy="check that the first pod runs (`./hpc status`) and that its headless service has publishNotReady"
        "Addresses; let MASTER_ADDR follow from the operator, and do not set it in `environment`",
        explains=STARTED | TOGETHER,
        source="github.com/pytorch/pytorch/issues/64926; PyTorch 2.1 to 2.12, socket.cpp",
    ),
    Cause(
        name="processes-absent",
        shows=r"waiting for (?:clients|workers)\. \d+/\d+|in store based barrier on rank|RendezvousTimeoutError"
        r"|connectFullMesh failed(?!.*remote=\[(?:127\.|::1))|ncclUniqueId from \[\d+\] .*(?:timeout|timed out)"
        r"|DistStoreError: (?:Socket Timeout|wait timeout)",
        why="not all of the job's processes joined in time: pods wait or have failed, more were announced than "
        "started, or the first was still busy, as with its data",
        remedy="check that all pods of the job run (`./hpc status`), that nnodes and nproc-per-node follow from "
        "`layout`, and that `isolated` tenants allow their own pods",
        explains=STARTED | TOGETHER,
        contradicted_by=frozenset({"loopback-taken"}),
        source="github.com/pytorch/pytorch/pull/111805, github.com/bytedance/HLLM/issues/20; PyTorch 2.1 to 2.12, "
        "TCPStore.cpp",
    ),
    Cause(
        name="loopback-address",
        shows=r"connectFullMesh failed",
        why="processes of several hosts were to meet at the loopback address: a host's own name does not resolve to "
        "one of its addresses, as in pods on the host's network, so Gloo took 127.0.0.1",
        remedy="set GLOO_SOCKET_IFNAME, and NCCL_SOCKET_IFNAME, in `environment` to the interface of the pod network "
        "(`fabric.interface`), or let the host's name resolve to its address",
        explains=STARTED | TOGETHER,
        source="github.com/aws-samples/aws-do-eks/pull/50, github.com/vllm-project/vllm/issues/7074; "
        "PyTorch 2.1 to 2.12, ProcessGroupGloo.cpp",
    ),
    Cause(
        name="master-unreachable",
        shows=r"The client socket has (?:timed out|failed to connect to any)|connection to the C10d store has failed"
        r"|connect\(\) timed out\. Original timeout",
        why="the process at which the others meet does not answer: it has not started, has ended, or its port is "
        "blocked, or taken by a service mesh",
        remedy="read the log of the first pod, and check that `isolated` tenants allow their own pods; MASTER_ADDR and "
        "MASTER_PORT in `environment` must be the first pod's; where a mesh adds proxies, label the pods "
        "sidecar.istio.io/inject: false",
        explains=STARTED | TOGETHER,
        source="github.com/meta-pytorch/torchtune/issues/2676, github.com/kubeflow/trainer/issues/2794; "
        "PyTorch 2.1 to 2.12, socket.cpp",
    ),
    Cause(
        name="rank-behind",
        shows="",
        why="ranks waited for one that did not reach their collective operation",
        remedy="read the last lines of the rank that is behind: it may have ended, wait for data (`data_sets`), or "
        "have taken another branch; py-spy shows where it is, and TORCH_NCCL_TRACE_BUFFER_SIZE in `environment` "
        "records the operations of all ranks",
        explains=TOGETHER,
        source="github.com/hiyouga/LlamaFactory/issues/7396, github.com/pytorch/pytorch/issues/118369",
    ),
    Cause(
        name="watchdog-stuck",
        shows=r"watchdog got stuck for \d+ seconds|due to ProcessGroupNCCL watchdog hang|possible GIL induced hang",
        why="a call of CUDA or NCCL did not return, so that PyTorch's watchdog itself stood still: a deadlock with "
        "Python's lock, a hung GPU, or a storage that does not answer",
        remedy="check the node's kernel messages for Xid and its mounts; raise TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC in "
        "`environment` if storage may stall so long",
        explains=TOGETHER,
        source="github.com/om-ai-lab/VLM-R1/issues/257; PyTorch 2.2 to 2.12, ProcessGroupNCCL.cpp",
    ),
    Cause(
        name="collective-timeout",
        shows=r"Watchdog caught collective operation timeout|dump signal due to a collective timeout",
        why="a collective operation did not end in time, and the logs show no rank that is behind",
        remedy="read the logs of all pods: a rank whose watchdog printed nothing may be the one behind; check links "
        "(`./hpc verify --nodes`), and that all ranks call the same operations with the same sizes; raise the timeout "
        "of init_process_group if one step of the `program` takes longer",
        explains=TOGETHER,
        last_resort=True,
        source="github.com/pytorch/pytorch/issues/118369; PyTorch 2.1 to 2.12, ProcessGroupNCCL.cpp",
    ),
)
