"""What a container's command line says to mpirun, as far as a manifest can say it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from posixpath import basename

from policies.pods import Container
from policies.values import Path
from policies.views.command_lines import Command, commands, text

LAUNCHERS = frozenset({"mpirun", "mpiexec", "orterun", "prterun", "mpiexec.hydra", "horovodrun"})
_MARKS = re.compile("mpirun|mpiexec|orterun|prterun|horovodrun")
_TALKERS = frozenset(
    {"apt", "apt-get", "cat", "command", "conda", "dnf", "echo", "grep", "ls", "pgrep", "pip", "pkill", "printf"}
    | {"test", "type", "which", "yum", "[", "[["}
)
"""Commands that name mpirun without starting it."""
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
class Word:
    """A word of a command line; `place` is the field, relative to the container, in which it is."""

    text: str
    place: Path


@dataclass(frozen=True)
class Mpirun:
    """One call of mpirun.

    `processes` is the value of -np, summed over `:` parts, None without one; `per_node` that of -npernode.
    `exports` are the variables of -x with their values, None where the value is the launcher's own.
    `hosts` are those that the call itself names, as it writes them. `program` is what it starts.
    """

    place: Path
    processes: Word | None = None
    per_node: Word | None = None
    exports: Mapping[str, tuple[str | None, Path]] = field(default_factory=dict)
    hosts: str = ""
    program: tuple[str, ...] = ()

    @property
    def count(self) -> int | None:
        """Processes as a number, or None when it is not set or is not a number."""
        return number(self.processes.text) if self.processes else None

    def elsewhere(self, here: tuple[str, ...]) -> bool:
        """Return whether it names a host that is none of `here`."""
        return any(host.partition(":")[0] not in here for host in self.hosts.split(",") if host)


def number(text: str) -> int | None:
    """Return a count as its programs read it, or None."""
    text = text.strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS else None


def calls(container: Container) -> tuple[Mpirun, ...]:
    """Return the calls of mpirun and its kin in a container's command and args."""
    return container.once(_calls)


def _calls(container: Container) -> tuple[Mpirun, ...]:
    if _MARKS.search(text(container)) is None:
        return ()
    return tuple(found for command in commands(container) if (found := _call(command)) is not None)


def _call(command: Command) -> Mpirun | None:
    words = command.words
    start = next((index for index, word in enumerate(words) if basename(word) in LAUNCHERS), None)
    if start is None or words[0] in _TALKERS:
        return None
    found = _Reader(command)
    index = start + 1
    while index < len(words):
        index = found.part(index)
    return found.result(command.place(start))


class _Reader:
    """Collects what the parts of one call say; parts are separated by a lone colon."""

    def __init__(self, command: Command) -> None:
        self._command = command
        self._words = command.words
        self._counts: list[Word | None] = []
        self._per_node: Word | None = None
        self._exports: dict[str, tuple[str | None, Path]] = {}
        self._hosts = ""
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
        if name == "pernode":
            self._per_node = Word("1", self._command.place(index))
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
            self._exports[variable] = (own if equals else None, self._command.place(index))
        elif name in _PROCESSES:
            self._counts[-1] = Word(value, self._command.place(index))
        elif name in _PER_NODE:
            self._per_node = Word(value, self._command.place(index))
        elif name in _ENVIRONMENT and index + 1 < len(self._words):
            self._exports[value] = (self._words[index + 1], self._command.place(index + 1))
        elif name in _HOSTS:
            self._hosts = value

    def result(self, place: Path) -> Mpirun:
        """Return the call, whose launcher is at `place`."""
        counts = [word for word in self._counts if word is not None]
        processes = counts[0] if len(counts) == len(self._counts) and counts else None
        if processes is not None and len(counts) > 1:
            numbers = [number(word.text) for word in counts]
            known = [value for value in numbers if value is not None]
            processes = Word(str(sum(known)), processes.place) if len(known) == len(numbers) else None
        return Mpirun(place, processes, self._per_node, self._exports, self._hosts, self._program)
