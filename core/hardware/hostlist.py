"""Names of several hosts in one, as Slurm writes them: gpu[001-003,005]."""

import re
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

_NUMBERED = re.compile(r"(.*?)(\d+)")
PATTERN = r"^[-.a-z0-9]*(\[[0-9]+(-[0-9]+)?(,[0-9]+(-[0-9]+)?)*\])?[-.a-z0-9]*$"
"""What a name of one host or of several looks like, for editors."""
MOST = 5000
"""Nodes that Kubernetes supports, and so the most that one name may mean."""
_RANGES = re.compile(r"([^\[\]]*)\[(\d+(?:-\d+)?(?:,\d+(?:-\d+)?)*)\]([^\[\]]*)")


def folded(hosts: Iterable[str]) -> str:
    """Return a list of hosts in the short form, in the order of the hosts."""
    parts: list[str] = []
    for (prefix, _), group in groupby(hosts, key=_prefix):
        names = list(group)
        numbers = [name[len(prefix) :] for name in names]
        parts.append(f"{prefix}[{_runs(numbers)}]" if len(names) > 1 and numbers[0] else ",".join(names))
    return ",".join(parts)


def expanded(name: str) -> tuple[str, ...]:
    """Return the hosts that a name means: itself, or with ranges as many.

    Raises ValueError for brackets without numbers, a range that ends before it starts or has numbers of two widths, and
    for too many hosts.
    """
    match = _RANGES.fullmatch(name)
    if match is None:
        if "[" in name or "]" in name:
            raise ValueError(f"{name}: the brackets hold no range of numbers; write e.g. gpu[01-04] or gpu[01-04,07]")
        return (name,)
    hosts: list[str] = []
    for part in match[2].split(","):
        first, _, last = part.partition("-")
        numbers = range(int(first), int(last or first) + 1)
        if not numbers:
            raise ValueError(f"{name}: the range {part} ends before it starts; correct it")
        if last.startswith("0") and len(first) != len(last):
            padded = f"{int(first):0{len(last)}d}-{last}"
            raise ValueError(
                f"{name}: the range {part} has numbers of two widths; write {padded} or {int(first)}-{int(last)}, as "
                "the names have them"
            )
        if len(numbers) + len(hosts) > MOST:
            raise ValueError(f"{name}: the range has more than {MOST} nodes; correct it")
        hosts += [f"{match[1]}{number:0{len(first)}d}{match[3]}" for number in numbers]
    return tuple(hosts)


def required(name: Any) -> Any:
    """Return a name as it is; raise ValueError as `expanded` does."""
    if isinstance(name, str):
        expanded(name)
    return name


def expanded_or_same(name: str) -> tuple[str, ...]:
    """Return the hosts that a name means; of one that `required` refuses the name."""
    try:
        return expanded(name)
    except ValueError:
        return (name,)


def _prefix(name: str) -> tuple[str, int]:
    match = _NUMBERED.fullmatch(name)
    return (match[1], len(match[2])) if match else (name, 0)


def _runs(numbers: Sequence[str]) -> str:
    runs = groupby(enumerate(numbers), key=lambda indexed: int(indexed[1]) - indexed[0])
    ends = [[number for _, number in run] for _, run in runs]
    return ",".join(run[0] if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in ends)
