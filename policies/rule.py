"""What a rule is, and the schema of its parameters."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from core.apis.kinds import Kind
from core.model import Model
from policies.findings import Severity
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation

FIXTURES = Path(__file__).with_name("fixtures")
"""Manifests that rules allow and deny, in `<rule>/allowed` and `<rule>/denied`: for the pages and the tests."""


class Parameters(Model):
    """What may be set for a rule; each rule with parameters has a model of its own, every field with a default."""


ALL_KINDS = (Kind("*", "*", "*", "*"),)
"""The kinds of a rule that examines every object, of whatever kind."""

P = TypeVar("P", bound=Parameters)


@dataclass(frozen=True)
class Rule(Generic[P]):
    """One rule: `what` must hold, `why` (with the message of the field), the `remedy`, and the sources.

    `examine` yields the violations of one object. It must not raise, whatever the object holds. An unknown value needs
    no care where a rule looks for something wrong: what it reads through `Part.read` and is unknown is reported as
    undetermined, and a violation at the same field is left out. Where a rule looks for something missing, or compares
    two fields, it checks `Part.hidden` first.

    `kinds` are the kinds of objects to examine, in any version; empty means every object that is or makes pods,
    and `ALL_KINDS` every object. `parameters` is the model that `examine` takes.
    `links` says that it reads other objects, so that it needs all of them: in the pack it runs over the whole stack.
    """

    name: str
    what: str
    why: str
    remedy: str
    source: str
    severity: Severity
    examine: Callable[[Obj, Inventory, P], Iterator[Violation]]
    parameters: type[P] = Parameters  # type: ignore[assignment]  # a test compares it with what `examine` takes
    kinds: tuple[Kind, ...] = ()
    links: bool = False

    @property
    def page(self) -> str:
        """The rule's page, relative to the repository."""
        return f"docs/reference/policies/{self.name}.md"


AnyRule = Rule[Any]


_DEFINITIONS = "#/$defs/"


def properties(parameters: type[Parameters]) -> dict[str, dict[str, Any]]:
    """Return the JSON schema of each parameter, by name; empty when there are none.

    The engine takes properties only, so that what is under `$defs` is put in its place. A model that contains
    itself has no such schema.
    """
    if not parameters.model_fields:
        return {}  # most rules; making a schema takes longer than all else at the start
    schema = parameters.model_json_schema()
    definitions = schema.get("$defs", {})
    return {name: _inline(value, definitions) for name, value in schema.get("properties", {}).items()}


def _inline(schema: Any, definitions: Mapping[str, Any]) -> Any:
    if isinstance(schema, list):
        return [_inline(entry, definitions) for entry in schema]
    if not isinstance(schema, Mapping):
        return schema
    reference = schema.get("$ref", "")
    resolved = {**definitions[reference.removeprefix(_DEFINITIONS)], **schema} if reference else schema
    return {key: _inline(value, definitions) for key, value in resolved.items() if key not in ("$ref", "title")}
