"""All rules over a set of objects; every door runs them through here."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from policies.configuration import Configuration
from policies.findings import Doubt, Finding, Severity
from policies.objects import Obj
from policies.parts import overlap
from policies.rule import ALL_KINDS, AnyRule, Parameters, Remark
from policies.rules import RULES
from policies.values import show
from policies.world import World

_PREFIXES = {None: "", Doubt.VALUE: "cannot be verified: ", Doubt.LINK: "cannot be verified here: "}


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

    def check(self, subjects: Iterable[Obj], world: World) -> Iterator[Finding]:
        """Yield what the rules find in `subjects`, which are among the objects of `world`, object by object."""
        for subject in subjects:
            for job in self._for(subject.group, subject.kind, subject.has_pods):
                subject.touched.clear()
                remarks = [*job.rule.examine(subject, world, job.parameters)]
                if remarks or subject.touched:
                    yield from self._findings(job, subject, world, remarks)

    def _select(self, group: str, kind: str, pods: bool) -> tuple[_Job, ...]:
        return tuple(
            job
            for job in self._jobs
            if (pods if not job.rule.kinds else job.rule.kinds is ALL_KINDS or _among(group, kind, job.rule))
        )

    def _findings(self, job: _Job, subject: Obj, world: World, remarks: list[Remark]) -> Iterator[Finding]:
        if subject.touched:
            hidden = list(dict.fromkeys(subject.touched))
            remarks = [remark for remark in remarks if not any(overlap(remark.path, value.path) for value in hidden)]
            for value in hidden:
                message = f"{show(value.path)} is not known before the update"
                yield from self._doubt(job, subject, Remark(message, value.path), Doubt.VALUE)
        for remark in remarks:
            if remark.unknown:
                yield from self._doubt(job, subject, remark, Doubt.VALUE)
            elif not remark.link or world.complete:
                yield _finding(job.rule, job.severity, subject, remark)
            else:
                yield from self._doubt(job, subject, remark, Doubt.LINK)

    def _doubt(self, job: _Job, subject: Obj, remark: Remark, doubt: Doubt) -> Iterator[Finding]:
        severity = self._configuration.doubts(doubt)
        if severity is not None:
            yield _finding(job.rule, severity, subject, remark, doubt)


def _among(group: str, kind: str, rule: AnyRule) -> bool:
    return any((each.group, each.kind) == (group, kind) for each in rule.kinds)


def _finding(rule: AnyRule, severity: Severity, subject: Obj, remark: Remark, doubt: Doubt | None = None) -> Finding:
    return Finding(
        rule=rule.name,
        severity=severity,
        object=str(subject),
        message=f"{_PREFIXES[doubt]}{remark.message}",
        remedy=remark.remedy or rule.remedy,
        path=remark.path,
        container=remark.container,
        doubt=doubt,
        origin=subject.origin,
    )
