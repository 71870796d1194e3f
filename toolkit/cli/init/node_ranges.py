"""Names of nodes in the short form of the settings: gpu[01-04].lab.example.com."""

import re
from collections.abc import Iterable, Iterator

_LAST_NUMBER = re.compile(r"^([^.]*?)(\d+)([^.\d]*(?:\..*)?)$")
Parts = tuple[str, str, str]


def short(names: Iterable[str]) -> list[str]:
    """Return the names, those with consecutive numbers as one range."""
    return [_written(run) for run in _runs(sorted(names, key=_order))]


def _parts(name: str) -> Parts:
    """Return what is before the last number of the first label, the number, and what is after it."""
    match = _LAST_NUMBER.match(name)
    return (match[1], match[2], match[3]) if match else (name, "", "")


def _order(name: str) -> tuple[str, str, int, str]:
    before, number, after = _parts(name)
    return before, after, int(number or 0), name


def _runs(names: list[str]) -> Iterator[list[Parts]]:
    run: list[Parts] = []
    for parts in map(_parts, names):
        if run and not _follows(run, parts):
            yield run
            run = []
        run.append(parts)
    if run:
        yield run


def _follows(run: list[Parts], parts: Parts) -> bool:
    before, number, after = run[-1]
    if not number or (parts[0], parts[2]) != (before, after):
        return False
    # A range is written with as many digits as its first number has.
    return parts[1] == f"{int(number) + 1:0{len(run[0][1])}d}"


def _written(run: list[Parts]) -> str:
    before, first, after = run[0]
    return f"{before}{first}{after}" if len(run) == 1 else f"{before}[{first}-{run[-1][1]}]{after}"
