"""The commands that a container runs, mpirun's among them, from both forms: a list of words, and a script for `sh -c`.

What a shell would only know at run time (`$NP`) stays as text, and a word that is unknown until the update is like
one of those. Command lines are other people's input: the work is bounded, and what cannot be read gives less, never an
error.
"""

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from posixpath import basename

from core.apis.mpirun import LAUNCHERS, Value, number, read
from policies.manifests.pods import Container
from policies.manifests.values import Path

_SHELLS = frozenset({"sh", "bash", "dash", "ash", "ksh", "zsh"})
_LONGEST_SCRIPT = 1 << 15  # characters; shlex takes about 10 ms for them
_MOST_WORDS = 4096
_LONGEST_WORD = 256
_MOST_SCRIPTS = 8  # a script is among the first words
_SEPARATORS = ";&|()\n"


@dataclass(slots=True)
class Command:
    """One command, word by word; `script` is the field of the script that it comes from, None without one.

    `first` is how many of its words are in the container's `command`; the others are in `args`.
    """

    words: Sequence[str]
    script: Path | None
    first: int

    def place(self, index: int) -> Path:
        """Return the field, relative to the container, in which a word is."""
        if self.script is not None:
            return self.script
        return ("command", index) if index < self.first else ("args", index - self.first)


def commands(container: Container) -> list[Command]:
    """Return the commands that a container runs: one, or those of its script."""
    if not _has_words(container):
        return []
    first, args = _words(container, "command"), _words(container, "args")
    command = Command([*first, *args][:_MOST_WORDS], None, len(first))
    script = _script(command.words)
    return [command] if script is None else list(_split(command.words[script], command.place(script)))


def text(container: Container) -> str:
    """Return a container's whole command line as one text, to see whether it is worth to be read."""
    return container.once(_text) if _has_words(container) else ""


def _has_words(container: Container) -> bool:
    if container.object.unknown:
        container.read("command")
        container.read("args")
    return "command" in container.tree or "args" in container.tree


def _words(container: Container, group: str) -> list[str]:
    entries = container.tree.get(group)
    if not isinstance(entries, list):
        return []
    return [entry if isinstance(entry, str) else "$?" for entry in entries[:_MOST_WORDS]]


def _text(container: Container) -> str:
    words = [*_words(container, "command"), *_words(container, "args")]
    if sum(map(len, words)) > _LONGEST_SCRIPT:
        words = [
            word[: _LONGEST_SCRIPT if index < _MOST_SCRIPTS else _LONGEST_WORD] for index, word in enumerate(words)
        ]
    return " ".join(words)


def _script(words: Sequence[str]) -> int | None:
    """Return which word is the script of `sh -c`; one that several options precede is found too."""
    if not words or basename(words[0]) not in _SHELLS:
        return None
    for index, word in enumerate(words[1:], start=1):
        if not word.startswith("-"):
            if words[index - 1].endswith("o"):  # -o pipefail
                continue
            return None
        if "c" in word and not word.startswith("--"):
            return index + 1 if index + 1 < len(words) else None
    return None


def _split(script: str, place: Path) -> Iterator[Command]:
    words: list[str] = []
    for token in _tokens(script[:_LONGEST_SCRIPT]):
        if token.strip(_SEPARATORS):
            words.append(token)
        elif words:
            yield Command(words, place, 0)
            words = []
    if words:
        yield Command(words, place, 0)


def _tokens(script: str) -> list[str]:
    lines = (line for line in script.replace("\\\n", " ").split("\n") if not line.lstrip().startswith("#"))
    lexer = shlex.shlex("\n".join(lines), posix=True, punctuation_chars=_SEPARATORS)
    lexer.whitespace = " \t\r"
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        return list(lexer)[:_MOST_WORDS]
    except ValueError:  # a quotation without end
        return script.split()[:_MOST_WORDS]


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
