"""What a rule is, and the reading of resource requests that several rules share."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import Field

from hardware.model import Model
from hardware.profiles import PROFILES
from policies.findings import Finding, Severity
from policies.pods import Container, Pod, describe, pods
from policies.values import Unknown, plain


class Limits(Model):
    """What the rules measure against; a pack's configuration may narrow it to the stack's machines."""

    gpus: int = Field(
        default=max(profile.gpus for profile in PROFILES.values()),
        gt=0,
        description="GPUs of the largest machine; default: of all known hardware profiles (source R-4.3-2)",
    )


@dataclass(frozen=True)
class Remark:
    """What one rule says about a pod; `container` is None when it is the pod as a whole."""

    message: str
    container: Container | None = None


Examine = Callable[[Pod, Limits], Iterator[Remark]]


@dataclass(frozen=True)
class Rule:
    """One rule over pods: `what` must hold, `why` (with the message of the field), and the `remedy`."""

    name: str
    what: str
    why: str
    remedy: str
    source: str
    severity: Severity
    examine: Examine

    @property
    def page(self) -> str:
        """The rule's page, relative to the repository."""
        return f"docs/policies/{self.name}.md"

    def check(self, manifest: Mapping[str, Any], limits: Limits | None = None) -> tuple[Finding, ...]:
        """Return the findings on one manifest (a dict or a policy proxy); none when the rule holds."""
        tree = plain(manifest)
        return tuple(
            self._finding(describe(tree), remark)
            for pod in pods(tree)
            for remark in (*(unverifiable(value) for value in pod.unknown), *self.examine(pod, limits or Limits()))
        )

    def _finding(self, name: str, remark: Remark) -> Finding:
        container = f"{remark.container.name} ({remark.container.path})" if remark.container else ""
        return Finding(self.name, self.severity, name, container, remark.message, self.remedy)


def unverifiable(value: Unknown, container: Container | None = None) -> Remark:
    """Say which value is unknown before the update, so that a preview does not pass in silence."""
    return Remark(f"cannot be verified: {value.path} is not known before the update", container)


@dataclass(frozen=True)
class Request:
    """One resource that a container asks for: `limit` and `request` are None when absent."""

    resource: str
    limit: Any
    request: Any

    @property
    def values(self) -> tuple[Any, ...]:
        """The quantities that are written down."""
        return tuple(value for value in (self.limit, self.request) if value is not None)


def requests(container: Container, wanted: Callable[[str], bool]) -> Iterator[Request | Unknown]:
    """Yield what a container asks for of the resources that are `wanted`; an `Unknown` for what nobody can tell yet."""
    limits, asked = (container.read("resources", side) for side in ("limits", "requests"))
    hidden = tuple(side for side in (limits, asked) if isinstance(side, Unknown))
    yield from dict.fromkeys(hidden)
    limits, asked = (side if isinstance(side, Mapping) else {} for side in (limits, asked))
    for resource in sorted({*limits, *asked}):
        if wanted(resource):
            request = Request(resource, limits.get(resource), asked.get(resource))
            unknown = next((value for value in request.values if isinstance(value, Unknown)), None)
            yield unknown or request
