"""Policies for what the rules could not verify, so that it has an enforcement level of its own."""

from collections.abc import Iterable
from typing import Any

from pulumi_policy import (
    EnforcementLevel,
    Policy,
    ReportViolation,
    ResourceValidationArgs,
    ResourceValidationPolicy,
    StackValidationArgs,
    StackValidationPolicy,
)

from policies.findings import Doubt, Finding
from policies.pack.evaluation import ResourceRequests, StackRequests
from policies.values import show

_PAGE = "docs/policies/README.md"


class _UnverifiedValue(ResourceValidationPolicy, StackValidationPolicy):
    """A resource policy and a stack policy under one name: values are unknown to rules of both kinds."""

    def __init__(self, resources: ResourceRequests, stacks: StackRequests) -> None:
        # Both bases build on a function; the parent of both takes the rest.
        Policy.__init__(
            self,
            name=Doubt.VALUE,
            description="What a rule needs to know is known before the update.",
            enforcement_level=EnforcementLevel.ADVISORY,
            url=_PAGE,
        )
        self._resources, self._resource_turn = resources, resources.turn()
        self._stacks, self._stack_turn = stacks, stacks.turn()

    def validate(self, args: Any, report_violation: ReportViolation) -> None:
        """Report the doubts that the rules before it left in the same request."""
        if isinstance(args, ResourceValidationArgs):
            evaluation = self._resources.evaluation(self._resource_turn, args)
        else:
            evaluation = self._stacks.evaluation(self._stack_turn, args)
        _report(evaluation.doubts, Doubt.VALUE, report_violation)

    def has_validation(self) -> bool:
        """Say that it validates."""
        return True

    def has_remediation(self) -> bool:
        """Say that it mends nothing."""
        return False


def unverified_value(resources: ResourceRequests, stacks: StackRequests) -> Policy:
    """Return the policy that reports values which are not known before the update; it comes after all rules."""
    return _UnverifiedValue(resources, stacks)


def unverified_link(requests: StackRequests) -> Policy:
    """Return the policy that reports links whose other end is not in the stack; it comes after all rules."""
    turn = requests.turn()

    def validate(arguments: StackValidationArgs, report: ReportViolation) -> None:
        _report(requests.evaluation(turn, arguments).doubts, Doubt.LINK, report)

    return StackValidationPolicy(
        name=Doubt.LINK,
        description="The other end of a link is in the stack.",
        validate=validate,
        enforcement_level=EnforcementLevel.ADVISORY,
        url=_PAGE,
    )


def _report(doubts: Iterable[Finding], kind: Doubt, report: ReportViolation) -> None:
    found: dict[tuple[str, str], list[str]] = {}
    for finding in doubts:
        if finding.doubt is kind:
            place = finding.object if show(finding.path) in finding.message else finding.place
            found.setdefault((str(finding.origin), f"{place}: {finding.message}"), []).append(finding.rule)
    for (urn, message), rules in found.items():
        report(f"{message}. Rules that need it: {', '.join(dict.fromkeys(rules))}", urn)
