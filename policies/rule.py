"""What a rule is, the schema of its parameters, and its findings, without the secrets in them: messages end in logs."""

import base64
import binascii
import pathlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Generic, NamedTuple, TypeVar

from core.apis.kinds import SECRET, Kind
from core.model import Model
from core.pulumi_values import REDACTED
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.manifests.pod_specs import role_of
from policies.manifests.values import Path, Tree, show


class Severity(StrEnum):
    """What a finding does: a mandatory one ends the update, an advisory one is shown."""

    MANDATORY = "mandatory"
    ADVISORY = "advisory"


class Undetermined(StrEnum):
    """Why a finding is undetermined; each reason has a severity of its own."""

    VALUE = "unverified-value"
    """A value is unknown until the update."""
    LINK = "unverified-link"
    """The object at the other end of a link is not among the given ones."""


class Finding(NamedTuple):
    """One violation of a rule by one object, or an undetermined one.

    `path` is where the offending field is in the object, or would be; `container` is empty when it is not about
    a container; `origin` is what the caller gave with the object to find it again: a URN, a place in a file.
    """

    rule: str
    severity: Severity
    object: str
    message: str
    remedy: str
    path: Path = ()
    container: str = ""
    undetermined: Undetermined | None = None
    origin: Any = None

    @property
    def place(self) -> str:
        """Where it is: object, container and field."""
        parts = (self.object, f"container {self.container}" if self.container else "", show(self.path))
        return ", ".join(part for part in parts if part)

    @property
    def subject(self) -> str:
        """What it is about, in short: `MPIJob adas/train, Worker, nccl`, the latter two only where there are any."""
        return ", ".join(part for part in (self.object, role_of(self.path), self.container) if part)

    def __str__(self) -> str:
        """Return the finding on one line: rule, where, what is wrong, what to do."""
        return f"{self.rule}: {self.place}: {self.message}. {self.remedy}"


_SHORTEST = 4  # characters; taking out shorter ones would make messages unreadable and hide nothing


def secret_texts(subjects: Iterable[Obj], marked: Iterable[str] = ()) -> tuple[str, ...]:
    """Return what no message may show, the longest first.

    That is what is `marked` as secret, and all values of the Secrets among `subjects`, encoded and decoded.
    """
    values = {
        text
        for subject in subjects
        if (subject.group, subject.kind) == (SECRET.group, SECRET.kind)
        for field in ("data", "stringData")
        for text in texts(subject.tree.get(field))
    }
    hidden = {*marked, *values, *map(_decoded, values)}
    return tuple(sorted((text for text in hidden if len(text) >= _SHORTEST), key=lambda text: (-len(text), text)))


def redact(finding: Finding, secret: Iterable[str]) -> Finding:
    """Return the finding with each of the `secret` texts taken out of its message and its remedy."""
    message, remedy = finding.message, finding.remedy
    for text in secret:
        message, remedy = message.replace(text, REDACTED), remedy.replace(text, REDACTED)
    if (message, remedy) == (finding.message, finding.remedy):
        return finding
    return finding._replace(message=message, remedy=remedy)


def texts(tree: Tree) -> Iterator[str]:
    """Yield the strings and numbers of a tree as text."""
    waiting = [tree]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)
        elif isinstance(value, str | int | float) and not isinstance(value, bool):
            yield str(value)


def _decoded(value: str) -> str:
    try:
        return base64.b64decode(value, validate=True).decode()
    except (binascii.Error, ValueError):
        return ""


FIXTURES = pathlib.Path(__file__).with_name("fixtures")
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
