"""The dialects of switches: how each writes a configuration, and by what its statements are compared."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from stacks.settings.site.switches import Comware, Nvue, OnyxEthernet, OnyxInfiniBand, Switch
from stacks.site.site import Site
from toolkit.site.groups.switches import comware, nvue, onyx_ethernet, onyx_infiniband, onyx_statements
from toolkit.site.output import Open
from toolkit.site.statements import Statements

__all__ = ["DIALECTS", "Dialect", "Switch", "of"]


def _nothing(_: Any) -> Iterator[Open]:
    return iter(())


@dataclass(frozen=True)
class Dialect:
    """One dialect."""

    suffix: str
    """Of the file's name."""
    sources: tuple[str, ...]
    text: Callable[[Any, Site], str]
    """The file of a switch."""
    statements: Callable[[Any, Site], Mapping[str, str]]
    """What its running configuration has then: what is configured -> the statement."""
    running: Callable[[Iterable[str]], Statements]
    """The same of lines that a switch printed; of NVUE, of leaves as `path: value`."""
    missing: Callable[[Any], Iterator[Open]] = _nothing


DIALECTS: Mapping[type, Dialect] = {
    OnyxInfiniBand: Dialect(
        "onyx",
        sources=("R-3.1-1", "R-3.1-2", "E-07", "E-08"),
        text=onyx_infiniband.text,
        statements=onyx_infiniband.statements,
        running=onyx_statements.parse,
    ),
    OnyxEthernet: Dialect(
        "onyx",
        sources=("N-1.1", "N-1.2", "N-1.3", "E-45"),
        text=onyx_ethernet.text,
        statements=onyx_ethernet.statements,
        running=onyx_statements.parse,
    ),
    Nvue: Dialect(
        "nvue.yaml", sources=("N-1.4", "N-1.2", "N-1.3"), text=nvue.text, statements=nvue.statements, running=nvue.parse
    ),
    Comware: Dialect(
        "comware",
        sources=("B-2.2", "B-2.3"),
        text=comware.text,
        statements=comware.statements,
        running=comware.parse,
        missing=comware.missing,
    ),
}


def of(switch: Switch) -> Dialect:
    """Return the dialect of a switch."""
    return DIALECTS[type(switch)]
