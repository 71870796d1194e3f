"""An MPIJob that is reached by SSH and does not run as root keeps its keys and its port where its user may use them."""

import re
from collections.abc import Iterator
from posixpath import basename, normpath

from apis import mpi_jobs
from apis.kinds import MPI_JOB_V2BETA1
from apis.quantity import whole
from policies.findings import Severity
from policies.inventory import Inventory
from policies.objects import Obj
from policies.pods import Container, Pod
from policies.rule import Parameters, Rule
from policies.values import Unknown
from policies.views.command_lines import Command, commands
from policies.violation import Violation

_MOUNT = ("spec", "sshAuthMountPath")
_FIRST_FREE_PORT = 1024
_PORT = re.compile(r"-p=?(\d{1,5})?\Z|-o(?:port[= ](\d{1,5}))?\Z", re.IGNORECASE)
_NEEDED = frozenset({"SETUID", "SETGID"})


def _examine(subject: Obj, _: Inventory, __: Parameters) -> Iterator[Violation]:
    if subject.version != MPI_JOB_V2BETA1.version:
        return
    ordinary = False
    for pod in subject.pods:
        first = next((container for container in pod.containers if container.group == "containers"), None)
        if first is None:
            continue
        user = _user(pod, first)
        if user:
            ordinary = True
            yield from _port(first)
        elif user == 0 and pod.role == "Worker":
            yield from _capabilities(first)
    if ordinary:
        yield from _mount(subject)


def _mount(subject: Obj) -> Iterator[Violation]:
    path = subject.read(*_MOUNT)
    if path is None:
        message = f"does not run as root, and its keys are in {mpi_jobs.SSH_MOUNT}, which only root may read"
        yield subject.violation(message, *_MOUNT)
    elif isinstance(path, str) and f"{normpath(path)}/".startswith("/root/"):
        yield subject.violation(f"does not run as root, and its keys are in {path}, which only root may read", *_MOUNT)


def _user(pod: Pod, container: Container) -> int | None:
    """Return the user id; 1 for some user who is not root, None when none is set."""
    for part in (container, pod):
        value = part.read("securityContext", "runAsUser")
        if value is not None:
            return None if isinstance(value, Unknown) else whole(value)
    if any(part.read("securityContext", "runAsNonRoot") is True for part in (container, pod)):
        return 1
    return None


def _port(container: Container) -> Iterator[Violation]:
    for command in commands(container):
        if not any(basename(word) == "sshd" for word in command.words):
            continue
        for index, port in _ports(command):
            if 0 < port < _FIRST_FREE_PORT:
                yield container.violation(
                    f"sshd listens on port {port}, which only root may use", *command.place(index)
                )


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
    what="In MPIJob v2beta1, workers that do not run as root have their SSH keys outside /root and sshd on port "
    f"{_FIRST_FREE_PORT} or above; workers that run as root keep SETUID and SETGID.",
    why="The launcher reaches v2beta1 workers by SSH. If the user may not read the keys or open the port, the launcher "
    "fails with `Permission denied (publickey)` or `Connection refused` until its retries are used up (mpi-operator "
    "#288, #642).",
    remedy="Set sshAuthMountPath to a folder of the user, e.g. /home/mpiuser/.ssh, and start sshd with its own "
    "configuration and port (-f, -p 2222)",
    source="E-16, platform-facts 1.7",
    severity=Severity.MANDATORY,
    parameters=Parameters,
    examine=_examine,
    kinds=(MPI_JOB_V2BETA1,),
)
