"""Prefixes that launchers, loggers and terminals put before each line, and that only their form distinguishes.

A prefix is recognised by what follows it: a line of NCCL, whose head no other text has, or the first line of
a tool; such a prefix then holds for the file. The forms are those of srun --label, Open MPI, Intel MPI and MPICH,
torchrun, torchx and NeMo-Run, Ray, SkyPilot, SageMaker, Determined, pdsh and DeepSpeed, Docker Compose, stern, k9s,
klog, syslog and journald, Python's and Go's loggers, streams of CloudWatch, Loki and GitLab, and quoted or indented
text.
"""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

TIME = r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?"
_END = r"(?: |$)"
_NAME = r"[A-Za-z](?>[\w.-]{0,62})"
_INDENT = r"[ \t]+"
_ADDRESS = r"\d{1,3}(?:\.\d{1,3}){3}|(?>[0-9a-f]{1,4})(?::[0-9a-f]{0,4}){2,7}"
_HOST = rf"({_NAME}|{_ADDRESS}):{_END}"
_LEVEL = r"(?:TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|CRITICAL|FATAL)"
_FORMS = (
    rf"\[?{TIME}\]?{_END}(?:std(?:out|err) [FP]{_END})?",
    rf"\d{{4}}/\d\d/\d\d \d\d:\d\d:\d\d(?:\.\d+)?{_END}",
    rf"\d\d:\d\d:\d\d(?:[.,]\d+)?{_END}",
    rf"[IWEF]\d{{4}} \d\d:\d\d:\d\d\.\d+ +\d+ [\w.-]{{1,60}}:\d+\]{_END}",
    rf"(?:[A-Z][a-z]{{2}} [ \d]\d \d\d:\d\d:\d\d )?({_NAME}) [\w./@-]{{1,60}}\[\d+\]:{_END}",
    rf"[A-Z][a-z]{{2}} [ \d]\d \d\d:\d\d:\d\d {_NAME} [\w./@-]{{1,60}}:{_END}",
    rf"(?:- )?(?:[\w.]{{1,60}} +(?:L\d+ +|- )?)?\[?{_LEVEL}(?:\]|\||:| -)?{_END}",
    rf"{_LEVEL}:[\w.]{{1,60}}:",
    rf"\[std(?:out|err)\]{_END}",
    r"\[(?:[\w.-]{1,60}@|[A-Za-z_]{1,20}[=: ] ?)?(\d+(?:,\d+)?|[\w.-]{1,60})\](?: ?<std(?:out|err|diag)>)?(?::? |:|$)",
    rf" *(\d{{1,6}}):{_END}",
    rf"\(([\w ,=.-]{{1,100}} pid=\d+)(?:, ip=[\w.:]+)?\){_END}",
    r"\[1,mpirank:(\d+),[\w.-]{1,60}\]<std(?:out|err)>:",
    rf"\{{[\w.]{{1,40}}=\"[^{{}}]{{0,300}}\}}{_END}",
    rf"[0-9a-f]{{8}} \|\|{_END}",
    r"\d\d[OE](?: |\+|$)",
    _HOST,
    rf"({_NAME}|{_ADDRESS}) *\|{_END}",
    rf" *\|{_END}",
    rf">{_END}",
    rf"([a-z0-9](?>[a-z0-9.]{{0,62}})-(?>[a-z0-9.-]{{0,62}})) [a-z][a-z0-9-]{{0,62}}{_END}",
    rf"((?:(?>[\w.#$-]{{1,80}})/){{1,6}}[\w.#$-]{{1,80}}){_END}",
    rf"([a-z0-9](?>[a-z0-9.]{{0,62}})-(?>[a-z0-9.-]{{0,62}})){_END}",
    _INDENT,
)
_forms = tuple((form, re.compile(form)) for form in _FORMS)
_any = re.compile("|".join(_FORMS))
_ADOPTED = 4
"""Kinds of prefix of one file: that of each launcher whose output it holds."""
_DEEPEST = 3
"""Forms one after another, e.g. an indentation, a time and a level."""
_LEAST = 11
"""Characters of a line that identifies a prefix: less, as `unlimited`, may follow anything."""
_LONGEST = 2000
_REFUSED = 1000

_MANY = rf"(?:{'|'.join(_FORMS)}){{1,5}}".encode()
_HEAD = rb"[A-Za-z0-9_][A-Za-z0-9_.-]*:\d+:\d+ \[-?\d+\](?: [\w./-]+:\d+)? NCCL (?:INFO|WARN|TRACE) "
_before_nccl = re.compile(rb"(?:" + _MANY + rb")(?=" + _HEAD + rb"|NCCL version \d)")
_many = re.compile(_MANY)
_nccl = re.compile(_HEAD)
_FARTHEST = 400
"""Bytes before the mark of NCCL's lines, at most: of host, thread and what precedes them."""


def before_nccl(raw: bytes) -> int:
    """Return how many bytes precede a line of NCCL; 0: none, or no prefix, as where two lines are one."""
    mark = raw.find(b"NCCL ")
    if mark <= 0 or mark > _FARTHEST or _nccl.match(raw) is not None:
        return 0
    match = _before_nccl.match(raw)
    return 0 if match is None else match.end()


def is_prefix(text: bytes) -> bool:
    """Return whether a text, which ends where a line of NCCL begins, is nothing but what others put there."""
    return len(text) <= _FARTHEST and _many.fullmatch(text) is not None


class Bare(NamedTuple):
    """A line without its prefix, and the source that the prefix names, if it does."""

    text: str
    source: str


class Prefixes:
    """The prefixes of a file that are known."""

    def __init__(self) -> None:
        self._adopted: list[re.Pattern[str]] = []
        self._refused: set[str] = set()
        """Lines without a prefix: the same come again and again, from each rank or host."""

    def strip(self, text: str) -> Bare | None:
        """Return a line without a prefix that is known; None: it has none."""
        for pattern in self._adopted:
            if (match := pattern.match(text)) is not None:
                return Bare(text[match.end() :], _source(match))
        return None

    def learn(self, text: str, begins: Callable[[Bare], bool]) -> bool:
        """Find the prefix of a line that no parser knows; `begins` returns whether the rest is a tool's first line."""
        if len(self._adopted) >= _ADOPTED or text in self._refused or len(text) > _LONGEST:
            return False
        if _any.match(text) is None:
            return False
        for chain in _chains(text, 0, (), ""):
            if begins(Bare(text[chain.end :], chain.source)):
                self._adopted.append(re.compile("".join(chain.forms)))
                return True
        if len(self._refused) >= _REFUSED:
            self._refused.clear()
        self._refused.add(text)
        return False

    def rests(self, text: str) -> Iterator[str]:
        """Yield what `learn` would try of a line."""
        if len(self._adopted) < _ADOPTED:
            yield from (text[chain.end :] for chain in _chains(text, 0, (), ""))


class _Chain(NamedTuple):
    """Forms of the start of a line, where they end, and the source that they name."""

    forms: tuple[str, ...]
    end: int
    source: str


def _chains(text: str, at: int, before: tuple[str, ...], source: str) -> Iterator[_Chain]:
    for form, pattern in _forms:
        match = pattern.match(text, at)
        if match is None or len(text) - match.end() < _LEAST:
            continue
        exact = form
        if form == _INDENT:
            exact = re.escape(match[0])
        elif form == _HOST:
            # Hosts of one cluster differ in their figures; other words before a colon are not hosts.
            exact = rf"({re.sub(r'[0-9]+', '[0-9]+', re.escape(match[1]))}):{_END}"
        chain = _Chain((*before, exact), match.end(), _source(match) or source)
        yield chain
        if len(chain.forms) < _DEEPEST and _any.match(text, chain.end) is not None:
            yield from _chains(text, chain.end, chain.forms, chain.source)


def _source(match: re.Match[str]) -> str:
    return next((group for group in reversed(match.groups()) if group), "")
