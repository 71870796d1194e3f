"""One Pulumi policy for each rule."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import Any

from pulumi_policy import (
    EnforcementLevel,
    Policy,
    PolicyConfigSchema,
    ReportViolation,
    ResourceValidationArgs,
    ResourceValidationPolicy,
    StackValidationArgs,
    StackValidationPolicy,
)

from policies import exceptions
from policies.check import Checker
from policies.configuration import Configuration
from policies.exceptions import RuleException
from policies.findings import Finding
from policies.pack.evaluation import Evaluation, ResourceRequests, StackRequests
from policies.pack.redaction import redact
from policies.pack.schema import properties
from policies.proxies import plain
from policies.rule import AnyRule

_STACK = "pulumi:pulumi:Stack"


class _Examination:
    """One rule with its exceptions, as it is configured at the moment."""

    def __init__(self, rule: AnyRule, exceptions: Sequence[RuleException], today: date) -> None:
        self._rule = rule
        self._exceptions = [entry for entry in exceptions if entry.rule == rule.name]
        self._today = today
        self._given: Mapping[str, Any] | None = None

    def run(self, evaluation: Evaluation, given: Mapping[str, Any]) -> Iterator[Finding]:
        """Yield what is wrong; put aside what cannot be verified. Raise ConfigurationError for a wrong parameter."""
        if self._given != given:  # once, since the configuration stays
            set_values = {key: value for key, value in plain(given).items() if value is not None}
            self._checker = Checker([self._rule], Configuration({self._rule.name: set_values}, (self._rule,)))
            self._given = dict(given)
        found = self._checker.check(evaluation.subjects, evaluation.world)
        for finding in exceptions.waive(found, self._exceptions, self._today):
            shown = redact(finding, evaluation.secrets)
            if shown.doubt is None:
                yield shown
            else:
                evaluation.doubts.append(shown)


def resource_policy(
    rule: AnyRule, requests: ResourceRequests, waived: Sequence[RuleException], today: date
) -> ResourceValidationPolicy:
    """Return the policy of a rule about one object."""
    examination, turn = _Examination(rule, waived, today), requests.turn()

    def validate(arguments: ResourceValidationArgs, report: ReportViolation) -> None:
        for finding in examination.run(requests.evaluation(turn, arguments), arguments.get_config()):
            report(str(finding), arguments.urn)

    return ResourceValidationPolicy(validate=validate, **_description(rule))


def stack_policy(
    rule: AnyRule, requests: StackRequests, waived: Sequence[RuleException], today: date
) -> StackValidationPolicy:
    """Return the policy of a rule about links; each violation names its resource (engine 3.250 ends without one)."""
    examination, turn = _Examination(rule, waived, today), requests.turn()

    def validate(arguments: StackValidationArgs, report: ReportViolation) -> None:
        for finding in examination.run(requests.evaluation(turn, arguments), arguments.get_config()):
            report(str(finding), str(finding.origin))

    return StackValidationPolicy(validate=validate, **_description(rule))


def ended_exceptions(waived: Sequence[RuleException], today: date) -> Policy:
    """Return the policy that refuses a stack while an exception has ended."""

    def validate(arguments: StackValidationArgs, report: ReportViolation) -> None:
        urns = [resource.urn for resource in arguments.resources if resource.resource_type == _STACK]
        for urn in (urns or [resource.urn for resource in arguments.resources])[:1]:
            for finding in exceptions.ended(waived, today):
                report(str(finding), urn)

    return StackValidationPolicy(
        name=exceptions.NAME,
        description="No exception to a rule has ended.",
        validate=validate,
        enforcement_level=EnforcementLevel.MANDATORY,
        url="docs/policies/README.md",
    )


def _description(rule: AnyRule) -> dict[str, Any]:
    schema = properties(rule.parameters)
    return {
        "name": rule.name,
        "description": rule.what,
        "enforcement_level": EnforcementLevel(rule.severity.value),
        "config_schema": PolicyConfigSchema(schema) if schema else None,
        "remediation_steps": rule.remedy,
        "url": rule.page,
    }
