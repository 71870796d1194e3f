"""What is read to see whether an object is ready (pure)."""

from collections.abc import Callable
from dataclasses import dataclass, field

from toolkit.engine.prediction.inputs import ObjectType
from toolkit.engine.prediction.readiness import Observation
from toolkit.engine.prediction.values import Properties


@dataclass(frozen=True)
class Seen:
    """An object, what belongs to it by kind, the object before the update, and whether endpoints have settled."""

    live: Properties
    related: dict[str, list[Properties]] = field(default_factory=dict)
    before: Properties | None = None
    settled: bool = True
    creating: bool = True
    """Whether a create or an update waits, and no refresh reads."""


@dataclass(frozen=True)
class Checker:
    """How one kind is inspected: with which other objects, how long (0: as requested), and if a refresh does it."""

    observe: Callable[[Seen], Observation]
    timed_out: str = ""
    related: tuple[ObjectType, ...] = ()
    fixed_timeout: float = 0
    on_read: bool = False
    storage_class: bool = False


def spec_of(live: Properties) -> Properties:
    """Return `spec`, empty where there is none."""
    spec = live.get("spec")
    return spec if isinstance(spec, dict) else {}
