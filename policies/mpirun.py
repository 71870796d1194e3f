"""What a container's command line says to mpirun, as far as a manifest can say it.

Reads both forms: a list of words, and a script for `sh -c`. What a shell would only know at run time (`$NP`) stays as
text. Command lines are other people's input: the work is bounded, and what cannot be read gives less, never an error.
"""

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from posixpath import basename

from policies.objects import Container
from policies.values import Path

LAUNCHERS = frozenset({"mpirun", "mpiexec", "orterun", "prterun", "mpiexec.hydra", "horovodrun"})
_ANY_LAUNCHER = re.compile("|".join(map(re.escape, sorted(LAUNCHERS))))
_SHELLS = frozenset({"sh", "bash", "dash", "ash", "ksh", "zsh"})
_TALKERS = frozenset(
    {"apt", "apt-get", "cat", "command", "conda", "dnf", "echo", "grep", "ls", "pgrep", "pip", "pkill", "printf"}
    | {"test", "type", "which", "yum", "[", "[["}
)
"""Commands that name mpirun without starting it."""
_LONGEST_SCRIPT = 1 << 15  # characters; shlex takes about 10 ms for them
_MOST_WORDS = 4096
_UNREADABLE = "$?"  # stands for a word that is not known yet, and is to a rule like a variable of the shell
_MOST_DIGITS = 9
_SEPARATORS = ";&|()\n"

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


@dataclass(slots=True)  # a frozen one takes three times as long to make
class Word:
    """A word of a command line; `place` is the field, relative to the container, in which it stands."""

    text: str
    place: Path


@dataclass(frozen=True)
class Mpirun:
    """One call of mpirun.

    `processes` is what -np says, summed over `:` parts, None when it is not said; `per_node` what -npernode says.
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
        """Processes as a number, or None when it is not said or is no number."""
        return number(self.processes.text) if self.processes else None

    def elsewhere(self, here: tuple[str, ...]) -> bool:
        """Say whether it names a host that is none of `here`."""
        return any(host.partition(":")[0] not in here for host in self.hosts.split(",") if host)


def number(text: str) -> int | None:
    """Return a count as its programs read it, or None."""
    text = text.strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS else None


def calls(container: Container) -> tuple[Mpirun, ...]:
    """Return the calls of mpirun and its kin in a container's command and args."""
    return container.once(_calls) if _has_words(container) else ()


def commands(container: Container) -> tuple[tuple[Word, ...], ...]:
    """Return the commands that a container runs, word by word: one, or those of its script."""
    return container.once(_commands) if _has_words(container) else ()


def text(container: Container) -> str:
    """Return a container's whole command line as one text, to look whether it is worth to be read."""
    return container.once(_text) if _has_words(container) else ""


def _has_words(container: Container) -> bool:
    if container.object.unknown:
        container.read("command")
        container.read("args")
    return "command" in container.tree or "args" in container.tree


def _words(container: Container) -> Iterator[tuple[str, str, int]]:
    for group in ("command", "args"):
        entries = container.tree.get(group)
        for index, entry in enumerate(entries[:_MOST_WORDS] if isinstance(entries, list) else ()):
            yield entry if isinstance(entry, str) else _UNREADABLE, group, index


def _text(container: Container) -> str:
    return " ".join(word[:_LONGEST_SCRIPT] for word, _, _ in _words(container))


def _calls(container: Container) -> tuple[Mpirun, ...]:
    if _ANY_LAUNCHER.search(container.once(_text)) is None:
        return ()
    return tuple(found for command in container.once(_commands) if (found := _call(command)) is not None)


def _commands(container: Container) -> tuple[tuple[Word, ...], ...]:
    split = [Word(word, (group, index)) for word, group, index in _words(container)][:_MOST_WORDS]
    script = _script(split)
    return (tuple(split),) if script is None else tuple(_split(script))


def _script(words: Sequence[Word]) -> Word | None:
    """Return the script of `sh -c`; a script that several options precede is found too."""
    if not words or basename(words[0].text) not in _SHELLS:
        return None
    for index, word in enumerate(words[1:], start=1):
        if not word.text.startswith("-"):
            if words[index - 1].text.endswith("o"):  # -o pipefail
                continue
            return None
        if "c" in word.text and not word.text.startswith("--"):
            return words[index + 1] if index + 1 < len(words) else None
    return None


def _split(script: Word) -> Iterator[tuple[Word, ...]]:
    command: list[Word] = []
    for text in _tokens(script.text[:_LONGEST_SCRIPT]):
        if text.strip(_SEPARATORS):
            command.append(Word(text, script.place))
        elif command:
            yield tuple(command)
            command = []
    if command:
        yield tuple(command)


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


def _call(command: Sequence[Word]) -> Mpirun | None:
    start = next((index for index, word in enumerate(command) if basename(word.text) in LAUNCHERS), None)
    if start is None or command[0].text in _TALKERS:
        return None
    found = _Reader(command[start].place)
    rest = command[start + 1 :]
    while rest:
        rest = found.part(rest)
    return found.result()


class _Reader:
    """Collects what the parts of one call say; parts are separated by a lone colon."""

    def __init__(self, place: Path) -> None:
        self._place = place
        self._counts: list[Word | None] = []
        self._per_node: Word | None = None
        self._exports: dict[str, tuple[str | None, Path]] = {}
        self._hosts = ""
        self._program: tuple[str, ...] = ()

    def part(self, words: Sequence[Word]) -> Sequence[Word]:
        """Read one part, and return what follows it."""
        self._counts.append(None)
        index = 0
        while index < len(words) and words[index].text.startswith("-") and len(words[index].text) > 1:
            index += 1 + self._option(words[index], words[index + 1 : index + 3])
        end = next((at for at in range(index, len(words)) if words[at].text == ":"), len(words))
        self._program = self._program or tuple(word.text for word in words[index:end])
        return words[end + 1 :]

    def _option(self, option: Word, following: Sequence[Word]) -> int:
        """Read one option, and return how many words after it are its values."""
        name, equals, text = option.text.lstrip("-").partition("=")
        values = [Word(text, option.place)] if equals else [*following]
        if name == "pernode":
            self._per_node = Word("1", option.place)
        if name in _NO_VALUE or (not equals and name not in _KNOWN and following and following[0].text[:1] == "-"):
            return 0
        arity = 2 if name in _TWO_VALUES else 1
        if values:
            self._value(name, values)
        return 0 if equals else min(arity, len(following))

    def _value(self, name: str, values: Sequence[Word]) -> None:
        first = values[0]
        if name in _PROCESSES:
            self._counts[-1] = first
        elif name in _PER_NODE:
            self._per_node = first
        elif name == "x":
            variable, equals, text = first.text.partition("=")
            self._exports[variable] = (text if equals else None, first.place)
        elif name in _ENVIRONMENT and len(values) > 1:
            self._exports[first.text] = (values[1].text, values[1].place)
        elif name in _HOSTS:
            self._hosts = first.text

    def result(self) -> Mpirun:
        """Return the call."""
        counts = [word for word in self._counts if word is not None]
        processes = counts[0] if len(counts) == len(self._counts) and counts else None
        if processes is not None and len(counts) > 1:
            numbers = [number(word.text) for word in counts]
            known = [value for value in numbers if value is not None]
            processes = Word(str(sum(known)), processes.place) if len(known) == len(numbers) else None
        return Mpirun(self._place, processes, self._per_node, self._exports, self._hosts, self._program)
