"""Known causes of processes that are not started: slots, keys, sshd, and workers that are not there."""

from toolkit.evidence.diagnosis.cause import STARTED, Cause

LAUNCH_CAUSES: tuple[Cause, ...] = (
    Cause(
        name="too-few-slots",
        shows=r"not enough slots available|--?np \S+ .*exceeds|more processes than .*slots|Horovod.*slots",
        why="mpirun was started with more processes than the workers have slots",
        remedy="let np follow from `layout` (pods x GPUs); do not set it in the command",
        explains=STARTED,
        source="R-4.3-2",
    ),
    Cause(
        name="mpi-as-root",
        shows=r"mpirun has detected an attempt to run as root|prterun has detected an attempt to run as root",
        why="Open MPI refuses to start as root",
        remedy="run the job under an account of its own (`tenant`), or add --allow-run-as-root to `command`",
        explains=STARTED,
        source="docs.open-mpi.org/en/v5.0.x/man-openmpi/man1/mpirun.1.html",
    ),
    Cause(
        name="ssh-keys",
        shows=r"Permission denied \((?:publickey|password|keyboard-interactive|hostbased|gssapi)"
        r"|Load key \"[^\"]*\": |UNPROTECTED PRIVATE KEY FILE|Permissions 0\d+ for '[^']*' are too open"
        r"|Authentication refused: bad ownership",
        why="a worker refuses the launcher's SSH key: the user of the pod may not read it, its mode or folder is too "
        "open, or sshd runs as another user and looks elsewhere",
        remedy="mount the keys where the pod's user reads them (`sshAuthMountPath` of the MPIJob, not /root/.ssh), and "
        "run launcher and workers as one user: the account of `tenant`, whose SCC sets the uid",
        explains=STARTED,
        source="github.com/kubeflow/mpi-operator/issues/429, github.com/kubeflow/mpi-operator/issues/424, "
        "github.com/kubeflow/mpi-operator/issues/301",
    ),
    Cause(
        name="host-keys",
        shows=r"Host key verification failed|no hostkeys available|Unable to load host key"
        r"|REMOTE HOST IDENTIFICATION HAS CHANGED",
        why="sshd has no host key that it may read, or the launcher does not accept it",
        remedy="create host keys in the `image` (ssh-keygen -A) that the pod's user may read, and set "
        "StrictHostKeyChecking no in its ssh_config",
        explains=STARTED,
        source="github.com/kubeflow/mpi-operator/issues/467",
    ),
    Cause(
        name="sshd-not-permitted",
        shows=r"chroot\(\"[^\"]*\"\): operation not permitted|Missing privilege separation directory"
        r"|Bind to port \d+ on .* failed: permission denied|Access denied for user \S+ by PAM"
        r"|(?:setgroups|setresuid|setgid)\S*: operation not permitted|kex_exchange_identification: "
        r"|Connection (?:closed|reset) by \S+ port \d+",
        why="sshd of a worker may not do what it needs: chroot, change its user, or listen on port 22",
        remedy="start sshd as the pod's user on a port above 1024 (`command` and the `image`'s sshd_config: "
        "UsePAM no, StrictModes no), or run workers under an SCC with SYS_CHROOT (`tenant`)",
        explains=STARTED,
        source="github.com/kubeflow/mpi-operator/issues/642",
    ),
    Cause(
        name="workers-not-ready",
        shows=r"ssh: connect to host .*(?:refused|timed out|no route)|could not resolve hostname"
        r"|unable to upgrade connection|error: pod .* not found|container not found",
        why="the launcher did not reach a worker: it started before the worker was ready, or the worker exited",
        remedy="make the launcher wait for ready workers (the release's MPI operator and `mpi_operator.image`), check "
        "that `isolated` tenants allow their own pods, and read the worker's log",
        explains=STARTED,
        source="github.com/kubeflow/mpi-operator/issues/288",
    ),
    Cause(
        name="pmix-store",
        shows=r"PMIX ERROR: .*gds_ds12_lock|PMIX ERROR: .*gds_ds\d+",
        why="the data store of PMIx in an older Open MPI does not work in the container",
        remedy="set PMIX_MCA_gds=hash in `environment`, or use an `image` with a newer Open MPI",
        explains=STARTED,
        source="docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html (PMIx); "
        "github.com/open-mpi/ompi/issues/7516",
    ),
    Cause(
        name="mpi-daemon-lost",
        shows=r"(?:ORTE|PRTE|PRRTE) (?:was unable to reliably start|has lost communication)"
        r"|PRTE .*lost communication|An ORTE daemon has unexpectedly",
        why="mpirun could not start its daemon on a worker, or lost it",
        remedy="read the lines before it and the worker's log: the worker may have exited, or refuse the connection "
        "(`isolated`, `mpi_operator.image`)",
        explains=STARTED,
        last_resort=True,
        source="Open MPI 5 documentation, launching applications",
    ),
    Cause(
        name="horovod-stalled",
        shows="",
        why="ranks of Horovod wait for others that do not submit the same tensor",
        remedy="read the logs of the ranks that Horovod lists as missing: they may have ended, be slow at their data "
        "(`data_sets`), or run another `program`",
        explains=STARTED,
        last_resort=True,
        source="github.com/horovod/horovod/issues/1012, github.com/horovod/horovod/issues/1206; Horovod 0.16 to 0.28, "
        "stall_inspector.cc",
    ),
)
