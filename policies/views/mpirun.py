"""The calls of mpirun in a container's command line, as far as a manifest has it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from posixpath import basename

from core.apis.mpirun import LAUNCHERS, Value, number, read
from policies.manifests.pods import Container
from policies.manifests.values import Path
from policies.views.command_lines import Command, commands, text

_MARKS = re.compile("mpirun|mpiexec|orterun|prterun|horovodrun")
_TALKERS = frozenset(
    {"apt", "apt-get", "cat", "command", "conda", "dnf", "echo", "grep", "ls", "pgrep", "pip", "pkill", "printf"}
    | {"test", "type", "which", "yum", "[", "[["}
)
"""Commands that name mpirun without starting it."""


@dataclass(frozen=True)
class Word:
    """A word of a command line; `place` is the field, relative to the container, in which it is."""

    text: str
    place: Path


@dataclass(frozen=True)
class Mpirun:
    """One call of mpirun, whose fields are those of `core.apis.mpirun.Call` with their places."""

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


def calls(container: Container) -> tuple[Mpirun, ...]:
    """Return the calls of mpirun and its kin in a container's command and args."""
    return container.once(_calls)


def _calls(container: Container) -> tuple[Mpirun, ...]:
    if _MARKS.search(text(container)) is None:
        return ()
    return tuple(call for command in commands(container) if (call := _call(command)) is not None)


def _call(command: Command) -> Mpirun | None:
    words = command.words
    start = next((index for index, word in enumerate(words) if basename(word) in LAUNCHERS), None)
    if start is None or words[0] in _TALKERS:
        return None
    call = read(words, start)
    exports = {name: (value, command.place(index)) for name, (value, index) in call.exports.items()}
    processes, per_node = _word(call.processes, command), _word(call.per_node, command)
    return Mpirun(command.place(start), processes, per_node, exports, call.hosts, call.program)


def _word(value: Value | None, command: Command) -> Word | None:
    return Word(value.text, command.place(value.index)) if value is not None else None
