"""All rules over a set of objects; every entry point runs them through here."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from policies.configuration import Configuration
from policies.findings import Finding, Severity, Undetermined
from policies.inventory import Inventory
from policies.objects import Obj
from policies.rule import ALL_KINDS, AnyRule, Parameters
from policies.rules import RULES
from policies.unknown_values import ReadLog, overlap
from policies.values import Unknown, show
from policies.violation import Violation

_PREFIXES = {None: "", Undetermined.VALUE: "cannot be verified: ", Undetermined.LINK: "cannot be verified here: "}


@dataclass(frozen=True)
class _Job:
    """One rule with what is configured for it."""

    rule: AnyRule
    parameters: Parameters
    severity: Severity


class Checker:
    """The rules with their configuration; rules that are disabled are left out."""

    def __init__(self, rules: Sequence[AnyRule] = RULES, configuration: Configuration | None = None) -> None:
        self._configuration = configuration or Configuration()
        self._jobs = [
            _Job(rule, self._configuration.parameters(rule), severity)
            for rule in rules
            if (severity := self._configuration.severity(rule)) is not None
        ]
        self._for = lru_cache(maxsize=None)(self._select)

    @property
    def rules(self) -> frozenset[str]:
        """The names of the rules that run."""
        return frozenset(job.rule.name for job in self._jobs)

    def check(self, subjects: Iterable[Obj], inventory: Inventory) -> Iterator[Finding]:
        """Yield what the rules find in `subjects`, which are among the objects of `inventory`, object by object."""
        for subject in subjects:
            jobs = self._for(subject.group, subject.kind, subject.has_pods)
            if subject.unknown:
                yield from self._logged(jobs, subject, inventory)
                continue
            for job in jobs:
                if violations := [*job.rule.examine(subject, inventory, job.parameters)]:
                    yield from self._findings(job, subject, inventory, violations)

    def _logged(self, jobs: tuple[_Job, ...], subject: Obj, inventory: Inventory) -> Iterator[Finding]:
        """Yield the findings of an object with unknown values, with those that a rule has read."""
        log = ReadLog(subject.unknown)
        examined = subject.logged(log)
        for job in jobs:
            if log.values:  # of the rule before; what a view has cached without a read of these needs none later
                log = ReadLog(subject.unknown)
                examined = subject.logged(log)
            violations = [*job.rule.examine(examined, inventory, job.parameters)]
            yield from self._findings(job, subject, inventory, violations, log.values)

    def _select(self, group: str, kind: str, pods: bool) -> tuple[_Job, ...]:
        return tuple(
            job
            for job in self._jobs
            if (pods if not job.rule.kinds else job.rule.kinds is ALL_KINDS or _among(group, kind, job.rule))
        )

    def _findings(
        self,
        job: _Job,
        subject: Obj,
        inventory: Inventory,
        violations: list[Violation],
        unknown: tuple[Unknown, ...] = (),
    ) -> Iterator[Finding]:
        for value in unknown:
            message = f"{show(value.path)} is unknown until the update"
            yield from self._undetermined(job, subject, Violation(message, value.path), Undetermined.VALUE)
        for violation in violations:
            if any(overlap(violation.path, value.path) for value in unknown):
                continue
            if violation.unknown:
                yield from self._undetermined(job, subject, violation, Undetermined.VALUE)
            elif not violation.link or inventory.complete:
                yield _finding(job.rule, job.severity, subject, violation)
            else:
                yield from self._undetermined(job, subject, violation, Undetermined.LINK)

    def _undetermined(self, job: _Job, subject: Obj, violation: Violation, reason: Undetermined) -> Iterator[Finding]:
        severity = self._configuration.undetermined(reason)
        if severity is not None:
            yield _finding(job.rule, severity, subject, violation, reason)


def _among(group: str, kind: str, rule: AnyRule) -> bool:
    return any((each.group, each.kind) == (group, kind) for each in rule.kinds)


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
