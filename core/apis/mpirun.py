"""The command line of mpirun and its kin (Open MPI, MPICH, Horovod), by one table of options; fields of an MPIJob."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

LAUNCHERS = frozenset({"mpirun", "mpiexec", "orterun", "prterun", "mpiexec.hydra", "horovodrun"})
_MOST_DIGITS = 9

_PROCESSES = frozenset({"np", "n", "c", "num-proc"})
_PER_NODE = frozenset({"npernode", "N", "ppn", "perhost"})
_ENVIRONMENT = frozenset({"genv", "env"})
_HOSTS = frozenset({"H", "host", "hosts"})
_NO_VALUE = frozenset(
    {"allow-run-as-root", "autotune", "bycore", "bynode", "byslot", "continuous", "d", "debug-daemons"}
    | {"disable-cache", "display-allocation", "display-map", "do-not-launch", "enable-recovery", "gloo"}
    | {"index-argv-by-rank", "leave-session-attached", "localonly", "merge-stderr-to-stdout", "mpi", "nolocal"}
    | {"nooversubscribe", "noprefix", "novm", "oversubscribe", "pernode", "prepend-rank", "q", "quiet"}
    | {"report-bindings", "show-progress", "tag-output", "timestamp-output", "use-hwthread-cpus", "v", "verbose"}
)
_TWO_VALUES = frozenset({"mca", "gmca", "omca", "pmca", "pmixmca", "prtemca", "genv", "env"})
_KNOWN = _PROCESSES | _PER_NODE | _TWO_VALUES | _HOSTS | {"x"}


@dataclass(frozen=True)
class Value:
    """The value of an option; `index` is its word's."""

    text: str
    index: int


@dataclass(frozen=True)
class Call:
    """One call of mpirun."""

    processes: Value | None = None
    """Of -np, summed over `:` parts, at the first one's word; None without one."""
    per_node: Value | None = None
    """Of -npernode."""
    exports: Mapping[str, tuple[str | None, int]] = field(default_factory=dict)
    """Variables of -x with their values, None where the value is the launcher's own, and the index of the word."""
    hosts: str = ""
    """What the call itself names, as it writes them."""
    flags: frozenset[str] = frozenset()
    """The names of all options."""
    program: tuple[str, ...] = ()
    """What it starts; of several parts the first that starts anything."""


def number(text: str) -> int | None:
    """Return a count as its programs read it, or None."""
    text = text.strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS else None


def read(words: Sequence[str], start: int = 0) -> Call:
    """Return the call whose launcher is the word at `start`; what cannot be read gives less, never an error."""
    reader = _Reader(words)
    index = start + 1
    while index < len(words):
        index = reader.part(index)
    return reader.call()


class _Reader:
    """Collects the options of one call, part by part; parts are separated by a lone colon."""

    def __init__(self, words: Sequence[str]) -> None:
        self._words = words
        self._counts: list[Value | None] = []
        self._per_node: Value | None = None
        self._exports: dict[str, tuple[str | None, int]] = {}
        self._hosts = ""
        self._flags: set[str] = set()
        self._program: tuple[str, ...] = ()

    def part(self, index: int) -> int:
        """Read one part, and return where the next one starts."""
        words = self._words
        self._counts.append(None)
        while index < len(words) and words[index][:1] == "-" and len(words[index]) > 1:
            index += 1 + self._option(index)
        end = next((at for at in range(index, len(words)) if words[at] == ":"), len(words))
        if not self._program:
            self._program = tuple(words[index:end])
        return end + 1

    def _option(self, index: int) -> int:
        """Read one option, and return how many words after it are its values."""
        words = self._words
        name, equals, value = words[index].lstrip("-").partition("=")
        self._flags.add(name)
        if name == "pernode":
            self._per_node = Value("1", index)
        if name in _NO_VALUE:
            return 0
        if equals:
            self._value(name, value, index)
            return 0
        left = len(words) - index - 1
        if not left or (name not in _KNOWN and words[index + 1][:1] == "-"):
            return 0
        self._value(name, words[index + 1], index + 1)
        return min(2 if name in _TWO_VALUES else 1, left)

    def _value(self, name: str, value: str, index: int) -> None:
        if name == "x":
            variable, equals, own = value.partition("=")
            self._exports[variable] = (own if equals else None, index)
        elif name in _PROCESSES:
            self._counts[-1] = Value(value, index)
        elif name in _PER_NODE:
            self._per_node = Value(value, index)
        elif name in _ENVIRONMENT and index + 1 < len(self._words):
            self._exports[value] = (self._words[index + 1], index + 1)
        elif name in _HOSTS:
            self._hosts = value

    def call(self) -> Call:
        """Return the call."""
        counts = [value for value in self._counts if value is not None]
        processes = counts[0] if len(counts) == len(self._counts) and counts else None
        if processes is not None and len(counts) > 1:
            numbers = [count for value in counts if (count := number(value.text)) is not None]
            processes = Value(str(sum(numbers)), processes.index) if len(numbers) == len(counts) else None
        return Call(processes, self._per_node, self._exports, self._hosts, frozenset(self._flags), self._program)


Fields = frozenset[str]

_BOUNDS: Fields = frozenset({"backoffLimit", "activeDeadlineSeconds"})
_RUN_POLICY: Fields = _BOUNDS | {"cleanPodPolicy", "ttlSecondsAfterFinished", "schedulingPolicy", "suspend"}

SPEC: Mapping[str, Fields] = {
    "v1alpha2": _BOUNDS | {"slotsPerWorker", "cleanPodPolicy", "mpiReplicaSpecs", "mainContainer", "mpiDistribution"},
    "v1": frozenset({"slotsPerWorker", "cleanPodPolicy", "mpiReplicaSpecs", "mainContainer", "runPolicy"}),
    "v2beta1": frozenset({"slotsPerWorker", "runLauncherAsWorker", "runPolicy", "mpiReplicaSpecs", "sshAuthMountPath"})
    | {"launcherCreationPolicy", "mpiImplementation"},
}
"""Fields of `spec`."""

RUN_POLICY: Mapping[str, Fields] = {
    "v1alpha2": frozenset(),
    "v1": _RUN_POLICY | {"managedBy"},
    "v2beta1": _RUN_POLICY | {"managedBy"},
}
"""Fields of `spec.runPolicy`; the operator of v1alpha2 knows no such field."""

FORMER: Fields = frozenset(
    {"gpus", "gpusPerNode", "processingUnits", "processingUnitsPerNode", "processingResourceType"}
    | {"launcherOnMaster", "replicas", "template"}
)
"""Fields of `spec` in v1alpha1, which no later version has."""

REPLICA: Fields = frozenset({"replicas", "template", "restartPolicy"})
"""Fields of a launcher or worker."""

VALUES: Mapping[str, Fields] = {
    "cleanPodPolicy": frozenset({"None", "Running", "All"}),
    "mpiImplementation": frozenset({"OpenMPI", "Intel", "MPICH"}),
    "launcherCreationPolicy": frozenset({"AtStartup", "WaitForWorkersReady"}),
}
"""What a field may be."""

RESTART_POLICIES: Fields = frozenset({"Never", "OnFailure"})
"""Of a launcher or worker in v2beta1."""

MANAGERS: Fields = frozenset({"kubeflow.org/mpi-operator", "kueue.x-k8s.io/multikueue"})
"""What `runPolicy.managedBy` may be."""

SSH_MOUNT = "/root/.ssh"
"""Where v2beta1 mounts the keys of its SSH connections by default."""


def bounds_place(version: str) -> tuple[str, ...]:
    """Return the path of backoffLimit and activeDeadlineSeconds in a version."""
    return ("spec",) if version == "v1alpha2" else ("spec", "runPolicy")
