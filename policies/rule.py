"""What a rule is."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from apis.kinds import Kind
from hardware.model import Model
from policies.findings import Severity
from policies.values import Path

if TYPE_CHECKING:
    from policies.objects import Obj
    from policies.world import World


class Parameters(Model):
    """What may be set for a rule; each rule with parameters has a model of its own, every field with a default."""


ALL_KINDS = (Kind("*", "*", "*", "*"),)
"""The kinds of a rule that examines every object, of whatever kind."""

P = TypeVar("P", bound=Parameters)


@dataclass(frozen=True, slots=True)
class Remark:
    """What a rule says about one object: the message, and the path of the field that it is about.

    `container` is the name of the container, empty when it is about the pod or the object as a whole; `link` says that
    the other end of a link is not among the objects, `unknown` that it is there and not known before the update.
    `remedy` is the remark's own, one imperative sentence without final period; empty means the rule's.
    """

    message: str
    path: Path = ()
    container: str = ""
    link: bool = False
    unknown: bool = False
    remedy: str = ""

    def mended(self, remedy: str) -> "Remark":
        """Return the remark with a remedy of its own."""
        return replace(self, remedy=remedy)


@dataclass(frozen=True)
class Rule(Generic[P]):
    """One rule: `what` must hold, `why` (with the message of the field), the `remedy`, and the sources.

    `examine` yields what is wrong with one object. It must not raise, whatever the object holds. A value that is not
    known needs no care where a rule looks for something wrong: what it reads through `Part.read` and is unknown is
    reported as a doubt, and a remark on the same field is left out. Where a rule looks for something missing, or
    compares two fields, it asks `Part.hidden` first.

    `kinds` are the kinds of objects to examine, in any version; empty means every object that is or makes pods,
    and `ALL_KINDS` every object.
    `links` says that it reads other objects, so that it needs all of them: in the pack it runs over the whole stack.
    """

    name: str
    what: str
    why: str
    remedy: str
    source: str
    severity: Severity
    parameters: type[P]
    examine: Callable[["Obj", "World", P], Iterator[Remark]]
    kinds: tuple[Kind, ...] = ()
    links: bool = False

    @property
    def page(self) -> str:
        """The rule's page, relative to the repository."""
        return f"docs/policies/{self.name}.md"


AnyRule = Rule[Any]
