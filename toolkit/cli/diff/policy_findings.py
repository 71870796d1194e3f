"""The findings of the policies without an engine, as the pack prints them; and which of them a change adds."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any

from core.pulumi_values import REDACTED
from policies import exceptions
from policies.manifests.objects import Obj
from policies.pack.examination import Diagnostic, Examination
from policies.pack.resources import Properties, as_objects
from policies.rules import RULES
from toolkit.review import events
from toolkit.review.model import CHANGED, Finding, Resource, Review

_TEXTS = ("data", "stringData")


def judged(
    resources: Iterable[Resource], configuration: Mapping[str, Mapping[str, Any]], day: date | None = None
) -> tuple[Finding, ...]:
    """Return the pack's findings for the resources of one stack on a day, today's by default: exceptions end."""
    examination = Examination(RULES, exceptions.load(), day or datetime.now(UTC).date(), configuration)
    subjects = [obj for resource in resources for obj in _objects(resource)]
    violations: Iterator[Diagnostic] = iter(
        [*examination.resource(subjects, ()), *examination.stack(subjects, (), "the stack")]
    )
    findings = {
        events.finding(
            {"policyName": violation.policy, "message": violation.text, "enforcementLevel": str(violation.severity)}
        )
        for violation in violations
    }
    return tuple(sorted(findings, key=events.order))


def compared(review: Review, configuration: Mapping[str, Mapping[str, Any]], day: date | None = None) -> Review:
    """Return the review with what is new among its findings: those that the stack did not have before."""
    before = {(finding.policy, finding.message) for finding in judged(review.objects(after=False), configuration, day)}
    marked = (replace(finding, new=(finding.policy, finding.message) not in before) for finding in review.findings)
    return replace(review, findings=tuple(marked))


def _objects(resource: Resource) -> Iterator[Obj]:
    # A Secret's texts may be hidden as a whole; rules ask whether it has some.
    shown = {
        key: {"hidden": REDACTED} if key in _TEXTS and value in (REDACTED, CHANGED) else value
        for key, value in resource.inputs.items()
    }
    return as_objects(resource.type, Properties(shown), resource.name, resource.urn)
