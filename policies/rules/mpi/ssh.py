"""An MPIJob that is reached by SSH runs sshd, and where its user may."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from posixpath import basename, normpath

from core.apis import mpirun
from core.apis.kinds import MPI_JOB_V2BETA1
from core.apis.mpirun import LAUNCHERS
from core.apis.quantity import whole
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.manifests.pods import Container, Pod
from policies.manifests.values import Unknown
from policies.rule import Parameters, Rule, Severity
from policies.views.admitted_pods import Admitting, admitted_pod
from policies.views.command_lines import Command, commands, text

_WRAPPERS = frozenset({"exec", "command", "nohup", "env", "tini", "dumb-init", "catatonit", "sudo", "--", "-g", "-s"})
_PLAIN = frozenset(
    {"sleep", "tail", "cat", "true", "false", "echo", "printf", "date", "hostname", "ls", "mkdir", "chmod", "chown"}
    | {"cd", "export", "set", "ulimit", "trap", "wait", ":", "while", "do", "done", "then", "fi", "exit"}
    | {"sync", "read"}
    | {"nvidia-smi", "ibstat", "ibv_devinfo", "torchrun", "deepspeed", "accelerate"}
    | LAUNCHERS
)
"""Programs, and words of a shell, that start no server; of any other, such as a script, it is not known."""


def _mpi_worker_sshd(subject: Obj, _: Inventory, __: Parameters) -> Iterator[Violation]:
    if subject.version != MPI_JOB_V2BETA1.version:
        return
    for pod in subject.pods:
        if pod.role == "Worker" and subject.read("spec", "mpiReplicaSpecs", "Worker", "replicas") != 0:
            yield from _worker(pod)


def _worker(pod: Pod) -> Iterator[Violation]:
    containers = [container for container in pod.containers if container.group == "containers"]
    if not containers or any(server in text(container) for container in containers for server in ("ssh", "dropbear")):
        return
    first = containers[0]
    if not isinstance(first.read("command"), list) or pod.object.hidden(*first.path):
        return  # the operator's own command, or the arguments of one that the image has
    programs = [program for command in commands(first) if (program := _program(command))]
    if programs and all(program in _PLAIN or program.startswith("python") for program in programs):
        yield first.violation(
            f"runs {programs[-1][:60]} in place of sshd, so that the launcher cannot reach it", "command"
        )


def _program(command: Command) -> str:
    """Return the program of a command, without what only starts it; empty for settings of variables alone."""
    words: Sequence[str] = command.words
    return next((word for word in map(basename, words) if word not in _WRAPPERS and "=" not in word), "")


MPI_WORKER_SSHD = Rule(
    name="mpi-worker-sshd",
    what="In MPIJob v2beta1, the command of the workers is left out, or starts sshd.",
    why="The launcher starts its processes on the workers by SSH. The operator runs sshd in workers without a command; "
    "one of their own, such as sleep or the training program, replaces it, and the launcher ends with `ssh: connect to "
    "host ...-worker-0 port 22: Connection refused` (mpi-operator #472).",
    remedy="Leave command and args of the workers out, or start sshd in them (/usr/sbin/sshd -De); what is to run goes "
    "behind mpirun in the launcher",
    source="platform-facts 1.7; github.com/kubeflow/mpi-operator/issues/472",
    severity=Severity.MANDATORY,
    examine=_mpi_worker_sshd,
    kinds=(MPI_JOB_V2BETA1,),
)


_MOUNT = ("spec", "sshAuthMountPath")
_FIRST_FREE_PORT = 1024
_PORT = re.compile(r"-p=?(\d{1,5})?\Z|-o(?:port[= ](\d{1,5}))?\Z", re.IGNORECASE)
_NEEDED = frozenset({"SETUID", "SETGID"})


@dataclass(frozen=True)
class _Ordinary:
    """Containers whose user is not root, for `reason`; `certain` where no missing object could change that."""

    containers: tuple[tuple[str, Container], ...]
    reason: str = "does not run as root"
    certain: bool = True


def _mpi_sshd_not_root(subject: Obj, inventory: Inventory, parameters: Admitting) -> Iterator[Violation]:
    if subject.version != MPI_JOB_V2BETA1.version:
        return
    declared: list[tuple[str, Container]] = []
    unset: list[tuple[Pod, Container]] = []
    for pod in subject.pods:
        first = next((container for container in pod.containers if container.group == "containers"), None)
        if first is None:
            continue
        user = _user(pod, first)
        if user:
            declared.append((pod.role, first))
        elif user == 0 and pod.role == "Worker":
            yield from _capabilities(first)
        elif user is None and not pod.hidden("securityContext") and not first.hidden("securityContext"):
            unset.append((pod, first))
    if ordinary := _Ordinary(tuple(declared)) if declared else _filled_in(unset, inventory, parameters):
        yield from _of_ordinary(subject, ordinary)


def _filled_in(unset: list[tuple[Pod, Container]], inventory: Inventory, parameters: Admitting) -> _Ordinary | None:
    """Return the containers that get a user of their namespace, since they name none."""
    admissions = [
        (pod.role, first, admission)
        for pod, first in unset
        if (admission := admitted_pod(pod, inventory, parameters.release))
    ]
    users = [(role, first, admission) for role, first, admission in admissions if admission.read(first, "runAsUser")]
    if not users:
        return None
    _, first, admission = users[0]
    user = f"user {admission.read(first, 'runAsUser')}" if admission.user_known else "a user of its namespace's range"
    certain = not any(admission.missing for _, _, admission in users)
    by = f"gets {user} by the SCC {admission.scc}{'' if certain else ', unless its account may use a wider one'}"
    return _Ordinary(tuple((role, container) for role, container, _ in users), by, certain)


def _of_ordinary(subject: Obj, ordinary: _Ordinary) -> Iterator[Violation]:
    report = subject.violation if ordinary.certain else subject.unlinked
    path = subject.read(*_MOUNT)
    default = path is None
    if default or (isinstance(path, str) and f"{normpath(path)}/".startswith("/root/")):
        keys = mpirun.SSH_MOUNT if default else path
        yield report(f"{ordinary.reason}, and its keys are in {keys}, which only root may read", *_MOUNT)
    for role, container in ordinary.containers:
        yield from _port(container, ordinary, default=default and role == "Worker")


def _user(pod: Pod, container: Container) -> int | None:
    """Return the user id; 1 for some user who is not root, None when none is set."""
    for part in (container, pod):
        value = part.read("securityContext", "runAsUser")
        if value is not None:
            return None if isinstance(value, Unknown) else whole(value)
    if any(part.read("securityContext", "runAsNonRoot") is True for part in (container, pod)):
        return 1
    return None


def _port(container: Container, ordinary: _Ordinary, *, default: bool) -> Iterator[Violation]:
    """Yield a port below 1024; by `default`, that of an sshd with neither a port nor a configuration of its own."""
    report = container.violation if ordinary.certain else container.unlinked
    for command in commands(container):
        if not any(basename(word) == "sshd" for word in command.words):
            continue
        for index, port in _ports(command):
            if 0 < port < _FIRST_FREE_PORT:
                yield report(f"sshd listens on port {port}, which only root may use", *command.place(index))
        default = default and "-f" not in command.words and not any(_ports(command))
    if default and (not container.read("command") or "sshd" in text(container)):
        yield report("sshd listens on port 22, which only root may use, where the image sets no other", "command")


def _ports(command: Command) -> Iterator[tuple[int, int]]:
    words = command.words
    for index, word in enumerate(words):
        match = _PORT.match(word)
        if match is None:
            continue
        following = words[index + 1].lower().removeprefix("port").lstrip("= ") if index + 1 < len(words) else ""
        text = match[1] or match[2] or following
        if text.isascii() and text.isdigit():
            yield index, int(text[:6])


def _capabilities(container: Container) -> Iterator[Violation]:
    dropped, added = container.capabilities("drop"), container.capabilities("add")
    missing = [name for name in sorted(_NEEDED) if {name, "ALL"} & {*dropped} and not {name, "ALL"} & {*added}]
    if missing:
        message = f"runs sshd as root without {', '.join(missing)}, by which sshd changes to the session's user"
        yield container.violation(message, "securityContext", "capabilities", "drop")


MPI_SSHD_NOT_ROOT = Rule(
    name="mpi-sshd-not-root",
    what="In MPIJob v2beta1, workers that do not run as root, by themselves or by their SCC, have their SSH keys "
    f"outside /root and sshd on port {_FIRST_FREE_PORT} or above; workers that run as root keep SETUID and SETGID.",
    why="The launcher reaches v2beta1 workers by SSH. If the user may not read the keys or open the port, the launcher "
    "fails with `Permission denied (publickey)` or `Connection refused` until its retries are used up (mpi-operator "
    "#288, #642).",
    remedy="Set sshAuthMountPath to a folder of the user, e.g. /home/mpiuser/.ssh, and start sshd with its own "
    "configuration and port (-f, -p 2222)",
    source="E-16, platform-facts 1.7",
    severity=Severity.MANDATORY,
    parameters=Admitting,
    examine=_mpi_sshd_not_root,
    links=True,
    kinds=(MPI_JOB_V2BETA1,),
)
