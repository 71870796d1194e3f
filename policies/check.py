"""All rules over a set of objects; every entry point runs them through here."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from policies.configuration import Configuration, divide
from policies.manifests.inventory import Inventory, is_applied
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.manifests.values import ReadLog, Unknown, overlap, show
from policies.rule import ALL_KINDS, AnyRule, Finding, Parameters, Severity, Undetermined
from policies.rules import RULES

_PREFIXES = {None: "", Undetermined.VALUE: "cannot be verified: ", Undetermined.LINK: "cannot be verified here: "}


@dataclass(frozen=True)
class _Check:
    rule: AnyRule
    parameters: Parameters
    severity: Severity


def configured_checker(content: Mapping[str, Any]) -> "Checker":
    """Return a checker of all rules, those of the project's own among them, with a configuration of a stack."""
    settled, general = divide(content)
    rules = (*RULES, *general.own)
    return Checker(rules, Configuration(settled, rules))


class Checker:
    """The rules with their configuration; rules that are disabled are left out."""

    def __init__(self, rules: Sequence[AnyRule] = RULES, configuration: Configuration | None = None) -> None:
        self._configuration = configuration or Configuration()
        self._checks = [
            _Check(rule, self._configuration.parameters(rule), severity)
            for rule in rules
            if (severity := self._configuration.severity(rule)) is not None
        ]
        self._for = lru_cache(maxsize=None)(self._select)

    @property
    def rules(self) -> frozenset[str]:
        """The names of the rules that run."""
        return frozenset(check.rule.name for check in self._checks)

    def severity(self, rule: AnyRule) -> Severity | None:
        """Return the severity of a rule that runs; None for one that does not."""
        return next((check.severity for check in self._checks if check.rule is rule), None)

    def check(self, subjects: Iterable[Obj], inventory: Inventory) -> Iterator[Finding]:
        """Yield what the rules find in `subjects`, which are among the objects of `inventory`, object by object."""
        for declared in subjects:
            subject = inventory.completed(declared)
            checks = self._for(subject.group, subject.kind, subject.has_pods)
            if subject.unknown:
                yield from self._with_unknowns(checks, subject, inventory)
                continue
            for check in checks:
                for violation in check.rule.examine(subject, inventory, check.parameters):
                    if (finding := self._finding_of(check, subject, inventory, violation)) is not None:
                        yield finding

    def _with_unknowns(self, checks: tuple[_Check, ...], subject: Obj, inventory: Inventory) -> Iterator[Finding]:
        """Yield the findings of an object with unknown values, with those that a rule has read."""
        log = ReadLog(subject.unknown)
        examined = subject.logged(log)
        for check in checks:
            if log.values:  # of the rule before; what a view has cached without a read of these needs none later
                log = ReadLog(subject.unknown)
                examined = subject.logged(log)
            violations = [*check.rule.examine(examined, inventory, check.parameters)]
            unknown = log.values
            read = [self._unverified(check, subject, value) for value in _reasons(unknown)]
            certain = (
                violation
                for violation in violations
                if not any(overlap(violation.path, value.path) for value in unknown)
            )
            findings = [*read, *(self._finding_of(check, subject, inventory, violation) for violation in certain)]
            yield from (finding for finding in findings if finding is not None)

    def _select(self, group: str, kind: str, pods: bool) -> tuple[_Check, ...]:
        return tuple(
            check
            for check in self._checks
            if (pods if not check.rule.kinds else check.rule.kinds is ALL_KINDS or _covers(group, kind, check.rule))
        )

    def _finding_of(self, check: _Check, subject: Obj, inventory: Inventory, violation: Violation) -> Finding | None:
        """Return what a violation means; None where undetermined findings are disabled."""
        if violation.unknown:
            return self._undetermined(check, subject, violation, Undetermined.VALUE)
        if violation.link and not inventory.complete:
            return self._undetermined(check, subject, violation, Undetermined.LINK)
        severity = check.severity
        if (subject.idle or subject.holder is not None) and not _is_applied(subject, inventory):
            severity = Severity.ADVISORY
        return _finding(check.rule, severity, subject, violation)

    def _unverified(self, check: _Check, subject: Obj, value: Unknown) -> Finding | None:
        if value.decided_by:
            return self._undetermined(check, subject, Violation(value.reason, value.decided_by), Undetermined.LINK)
        message = f"{show(value.path)} {value.reason}"
        return self._undetermined(check, subject, Violation(message, value.path), Undetermined.VALUE)

    def _undetermined(self, check: _Check, subject: Obj, violation: Violation, reason: Undetermined) -> Finding | None:
        severity = self._configuration.undetermined(reason)
        return _finding(check.rule, severity, subject, violation, reason) if severity is not None else None


def _reasons(unknown: Iterable[Unknown]) -> list[Unknown]:
    """Return the values to report: of those that one object decides the first, none that is reported already."""
    by_decision = {
        (value.reason, value.decided_by) if value.decided_by else value: value for value in reversed([*unknown])
    }
    return [value for value in reversed(by_decision.values()) if value.reason]


def _is_applied(subject: Obj, inventory: Inventory) -> bool:
    """Return whether an object inside another will be created."""
    return not subject.idle and (subject.holder is None or is_applied(subject.holder, inventory))


def _covers(group: str, kind: str, rule: AnyRule) -> bool:
    return any((covered.group, covered.kind) == (group, kind) for covered in rule.kinds)


def _finding(
    rule: AnyRule, severity: Severity, subject: Obj, violation: Violation, reason: Undetermined | None = None
) -> Finding:
    return Finding(
        rule=rule.name,
        severity=severity,
        object=str(subject),
        message=f"{_PREFIXES[reason]}{violation.message}",
        remedy=violation.remedy or rule.remedy,
        path=violation.path,
        container=violation.container,
        undetermined=reason,
        origin=subject.origin,
    )
