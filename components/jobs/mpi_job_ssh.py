"""How the pods of an MPIJob v2beta1 reach each other: sshd without root, as an SCC that drops everything admits it.

Under OpenShift a pod runs as a user of its namespace's range, whom no image knows. The runtime may add that user to
/etc/passwd, but with the shell /sbin/nologin, which ends every login; ssh and sshd both read it. So user, client and
server configuration come with the job: annotations of the pod, mounted as files.

What is left to the image: sh, ssh, and /usr/sbin/sshd of OpenSSH 7.8 or later (SetEnv), and the same MPI in launcher
and workers. sshd must have no file capabilities: the kernel refuses to start a program with one that the pod has
dropped (upstream's own base image has NET_BIND_SERVICE on it; inferred, not tried). nss_wrapper and a writable
/etc/passwd are not needed.
"""

from collections.abc import Mapping
from typing import Any

from components.fabric import gid_index
from components.jobs.mpi_job_args import MpiJobArgs
from core.apis import names

VOLUME = "ssh"
USER = "mpi"
SSHD = "/usr/sbin/sshd"
SSHD_CONFIG = "/etc/ssh/sshd_config"
PLACES: Mapping[str, str] = {"passwd": "/etc/passwd", "ssh-config": "/etc/ssh/ssh_config", "sshd-config": SSHD_CONFIG}
"""Where a pod finds each file."""


def keys(args: MpiJobArgs) -> str:
    """Return the folder in which the operator mounts the job's key pair."""
    return f"{args.v2beta1.home}/.ssh"


def files(args: MpiJobArgs) -> dict[str, str]:
    """Return the content of each file of `PLACES`.

    The host key is the job's own key, and no client could know it before: the pod network identifies the server, and
    the key the client. The kubelet sets modes and owners of the mounted keys, so sshd checks neither (StrictModes).
    """
    folder, run_as = keys(args), args.run_as
    passwd = ("root:x:0:0:root:/root:/sbin/nologin", f"{USER}:x:{run_as.uid}:{run_as.gid}::{args.v2beta1.home}:/bin/sh")
    client = (
        *("Host *", f"Port {args.v2beta1.ssh_port}", f"IdentityFile {folder}/id_rsa", "BatchMode yes"),
        *("StrictHostKeyChecking no", "UserKnownHostsFile /dev/null", "GlobalKnownHostsFile /dev/null"),
        "LogLevel ERROR",
    )
    server = (
        *(f"HostKey {folder}/id_rsa", f"AuthorizedKeysFile {folder}/authorized_keys", "PidFile none"),
        *(f"AllowUsers {USER}", "StrictModes no", "UsePAM no", "PasswordAuthentication no"),
        *("KbdInteractiveAuthentication no", "AllowTcpForwarding no", "X11Forwarding no"),
    )
    contents = dict(zip(PLACES, (passwd, client, server), strict=True))
    return {name: "".join(f"{line}\n" for line in lines) for name, lines in contents.items()}


def annotations(args: MpiJobArgs) -> dict[str, str]:
    """Return the annotations of a pod that hold the files."""
    return {_annotation(name): content for name, content in files(args).items()}


def volume() -> dict[str, Any]:
    """Return the pod's volume of the files."""
    items = [
        {"path": name, "fieldRef": {"fieldPath": f"metadata.annotations['{_annotation(name)}']"}} for name in PLACES
    ]
    return {"name": VOLUME, "downwardAPI": {"items": items}}


def mounts() -> list[dict[str, Any]]:
    """Return a container's mounts of the files, each at its place."""
    return [{"name": VOLUME, "mountPath": place, "subPath": name, "readOnly": True} for name, place in PLACES.items()]


def server(args: MpiJobArgs) -> list[str]:
    """Return the command of a worker.

    sshd gives its sessions none of its own environment; the path of MPI must be set for them, or the launcher finds no
    orted on the workers. Ranks inherit the environment of orted: of RoCE, the index of the pod's own addresses, which
    differs from pod to pod.
    """
    roce = args.v2beta1.roce_ports if args.transport.uses_rdma else ()
    own = f"${{index:+ {gid_index.NCCL}=$index}}" if roce else ""
    variables = f"PATH=$PATH LD_LIBRARY_PATH=$LD_LIBRARY_PATH ${{OPAL_PREFIX:+OPAL_PREFIX=$OPAL_PREFIX}}{own}"
    words = f'{SSHD} -D -e -f {SSHD_CONFIG} -p {args.v2beta1.ssh_port} -o "SetEnv {variables}"'
    return ["/bin/sh", "-c", ";".join((*((gid_index.common_index(roce),) if roce else ()), f"exec {words}"))]


def waiting(args: MpiJobArgs) -> list[str]:
    """Return the command that waits until sshd answers on every worker, and fails when one does not.

    A job that Kueue suspends has a launcher from the start, which is unsuspended with the workers and not after them:
    launcherCreationPolicy does not hold there (mpi-operator #615). A scan needs no key.
    """
    worker = f"{args.job_name}-worker-$n.{args.job_name}.{args.namespace}.svc"
    script = (
        f"end=$(($(date +%s)+{args.v2beta1.start_timeout}));n=0;while [ $n -lt {args.layout.pods} ];do "
        f'until [ -n "$(ssh-keyscan -T 2 -p {args.v2beta1.ssh_port} {worker} 2>/dev/null)" ];do '
        f'if [ $(date +%s) -ge $end ];then echo "no sshd on {worker}" >&2;exit 1;fi;sleep 1;done;'
        "n=$((n+1));done"
    )
    return ["/bin/sh", "-c", script]


def _annotation(name: str) -> str:
    return f"{names.SSH_FILES}{name}"
