"""Known causes of memory that is not there: shared between processes, of a pod, of a GPU."""

from toolkit.evidence.diagnosis.cause import STARTED, Cause

MEMORY_CAUSES: tuple[Cause, ...] = (
    Cause(
        name="host-buffers",
        shows=r"transport/shm\.cc:\d+ NCCL WARN Cuda failure (?!.*out of memory)"
        r"|attaching to shared memory segment \S+ \(size 0\)",
        why="NCCL 2.24 and later share host memory by CUDA (cuMem), which needs NUMA support in the container and, "
        "with drivers before 13.0, peer access between GPUs",
        remedy="set NCCL_CUMEM_HOST_ENABLE=0 in `environment`, use a newer driver (`gpu.driver.version`), or give pods "
        "SYS_NICE by an SCC of their own (`tenant`)",
        explains=STARTED,
        source="docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html (cuMem host allocations); "
        "github.com/NVIDIA/nccl/issues/1838, github.com/NVIDIA/nccl/issues/2190",
    ),
    Cause(
        name="shared-memory-removed",
        shows=r"unlink shared memory \S+ failed, error: no such file",
        why="something removed NCCL's files from /dev/shm while they were in use: systemd does when a user's last "
        "session ends",
        remedy="set RemoveIPC=no in logind.conf of hosts that mpirun or Slurm start processes on; in pods, let no two "
        "share /dev/shm (`shm_gib` gives each its own)",
        explains=STARTED,
        source="docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html (shared memory)",
    ),
    Cause(
        name="shared-memory",
        shows=r"\bbus error\b|unable to allocate shared memory|creating shared memory segment|posix_fallocate failed"
        r"|/dev/shm.*(?:no space|too small|insufficient)|insufficient shared memory|SIGBUS|exitcode\s*: -7\b"
        r"|failed to extend /dev/shm|failed to create shared memory file|attaching to shared memory segment",
        why="the pod's shared memory is too small",
        remedy="raise `shm_gib` of the workload",
        explains=STARTED,
        source="R-4.3-7; NCCL 2.18 to 2.30, misc/shmutils.cc",
    ),
    Cause(
        name="memory",
        shows=r"exited on signal 9|\bOOMKilled\b|exitcode\s*: -9\b|signal 9 \(SIGKILL\)|oom-?killer|oom[-_]kill"
        r"|out of memory: kill|srun: error: .*out of memory|(?:cannot|can't) allocate memory|std::bad_alloc"
        r"|\bMemoryError\b|killed due to the node running low on memory"
        r"|(?<! 0 )Workers? \(tasks / actors\) killed due to memory pressure",
        why="a process was killed, most often because the pod's memory ran out",
        remedy="compare the pod's memory with what the program's processes and data loaders need: use a `layout` with "
        "more GPUs per pod, which gives a pod more of the node's memory, or fewer workers; under Slurm raise --mem",
        explains=STARTED,
        source="docs.pytorch.org/docs/stable/elastic/errors.html; github.com/nextflow-io/nextflow/issues/5932; "
        "docs.ray.io/en/latest/ray-core/scheduling/ray-oom-prevention.html; "
        "kubernetes.io/docs/tasks/configure-pod-container/assign-memory-resource/",
    ),
    Cause(
        name="gpu-memory-full",
        shows=r"(?<!\bran )out of memory|CUDA_ERROR_OUT_OF_MEMORY|ResourceExhausted",
        why="a GPU's memory is full",
        remedy="reduce the batch size of the `program`, use GPUs with more memory, or more of them; check with "
        "nvidia-smi that no other process is on the GPU",
        explains=STARTED,
        source="docs.pytorch.org/docs/stable/notes/cuda.html (memory management)",
    ),
)
