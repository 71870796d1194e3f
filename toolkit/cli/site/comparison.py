"""What a comparison is: of what one tool printed with what the files of a site would make it print."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from stacks.site.site import Site
from toolkit.evidence.criterion import Kind
from toolkit.evidence.model import Reading
from toolkit.site.statements import Difference, Statements, differences


@dataclass(frozen=True)
class Compared:
    """What was compared."""

    what: str
    """Whose configuration or output it is, e.g. switch leaf-1."""
    differences: tuple[Difference, ...]
    others: tuple[str, ...] = ()
    """Statements about what no setting speaks of: they are neither right nor wrong."""


@dataclass(frozen=True)
class Comparison:
    """How the readings of some tools are compared."""

    tools: tuple[str, ...]
    """Names of parsers in `toolkit/evidence/tools`."""
    compare: Callable[[Reading, Site], Compared]
    """Raises Problem for an output of something that the settings do not name."""


def compared(what: str, expected: Mapping[str, str], running: Statements) -> Compared:
    """Return the differences of two sets of statements."""
    return Compared(what, tuple(differences(expected, running.by_key)), running.others)


def short(name: str) -> str:
    """Return the name by which a switch is known: without its domain, in small letters."""
    return name.partition(".")[0].lower()


def labelled(statements: Mapping[str, str]) -> dict[str, str]:
    """Return statements with what they are about, as they are printed."""
    return {key: f"{key}: {value}" for key, value in statements.items()}


def of_kind(reading: Reading, *kinds: type[Kind]) -> Kind:
    """Return a reading as one of these kinds; raise TypeError for that of another tool."""
    if not isinstance(reading, kinds):
        raise TypeError(f"{type(reading).__name__} is compared by another module")
    return reading
