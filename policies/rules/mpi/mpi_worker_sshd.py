"""The workers of an MPIJob that is reached by SSH run sshd."""

from collections.abc import Iterator, Sequence
from posixpath import basename

from core.apis.kinds import MPI_JOB_V2BETA1
from core.apis.mpirun import LAUNCHERS
from policies.findings import Severity
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.manifests.pods import Pod
from policies.rule import Parameters, Rule
from policies.views.command_lines import Command, commands, text

_SERVERS = ("ssh", "dropbear")
_WRAPPERS = frozenset({"exec", "command", "nohup", "env", "tini", "dumb-init", "catatonit", "sudo", "--", "-g", "-s"})
_PLAIN = frozenset(
    {"sleep", "tail", "cat", "true", "false", "echo", "printf", "date", "hostname", "ls", "mkdir", "chmod", "chown"}
    | {
        "cd",
        "export",
        "set",
        "ulimit",
        "trap",
        "wait",
        ":",
        "while",
        "do",
        "done",
        "then",
        "fi",
        "exit",
        "sync",
        "read",
    }
    | {"nvidia-smi", "ibstat", "ibv_devinfo", "torchrun", "deepspeed", "accelerate"}
    | LAUNCHERS
)
"""Programs, and words of a shell, that start no server; of any other, such as a script, it is not known."""


def _examine(subject: Obj, _: Inventory, __: Parameters) -> Iterator[Violation]:
    if subject.version != MPI_JOB_V2BETA1.version:
        return
    for pod in subject.pods:
        if pod.role == "Worker" and subject.read("spec", "mpiReplicaSpecs", "Worker", "replicas") != 0:
            yield from _worker(pod)


def _worker(pod: Pod) -> Iterator[Violation]:
    containers = [container for container in pod.containers if container.group == "containers"]
    if not containers or any(server in text(container) for container in containers for server in _SERVERS):
        return
    first = containers[0]
    if not isinstance(first.read("command"), list) or pod.object.hidden(*first.path):
        return  # the operator's own command, or the arguments of one that the image has
    programs = [program for command in commands(first) if (program := _program(command))]
    if programs and all(map(_is_plain, programs)):
        yield first.violation(
            f"runs {programs[-1][:60]} in place of sshd, so that the launcher cannot reach it", "command"
        )


def _program(command: Command) -> str:
    """Return the program of a command, without what only starts it; empty for settings of variables alone."""
    words: Sequence[str] = command.words
    return next((word for word in map(basename, words) if word not in _WRAPPERS and "=" not in word), "")


def _is_plain(program: str) -> bool:
    return program in _PLAIN or program.startswith("python")


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
    parameters=Parameters,
    examine=_examine,
    kinds=(MPI_JOB_V2BETA1,),
)
