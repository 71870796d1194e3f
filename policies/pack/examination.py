"""What the pack reports about one resource, or about a stack: functions of the objects and the configuration."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from policies import exceptions
from policies.check import Checker
from policies.configuration import Configuration, divide
from policies.exceptions import RuleException
from policies.findings import Finding, Severity, Undetermined
from policies.inventory import Inventory
from policies.objects import Obj, objects
from policies.pack.late_inventory import LateInventory
from policies.redaction import redact, secret_texts
from policies.rule import AnyRule
from policies.train_jobs import RUNTIME
from policies.values import show


@dataclass(frozen=True)
class Diagnostic:
    """What the engine gets: the policy, the severity, the resource, and the text."""

    policy: str
    severity: Severity
    urn: str
    text: str


class Examination:
    """The rules as one configuration of the pack sets them."""

    def __init__(
        self,
        rules: Sequence[AnyRule],
        waived: Sequence[RuleException],
        today: date,
        configuration: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> None:
        """Raise ConfigurationError for a policy, a level or a parameter that does not exist or has a wrong value."""
        levels, general = divide(configuration or {})
        self.own = general.own
        self._whole = general.complete is not False
        self._ended = general.ended
        self._beside = tuple(beside for manifest in general.beside for beside in objects(manifest))
        all_rules = (*rules, *general.own)
        settled = Configuration(levels, all_rules)
        self._objects = Checker([rule for rule in all_rules if not rule.links], settled)
        self._links = [Checker([rule], settled) for rule in all_rules if rule.links]
        self._waived, self._today = waived, today

    def resource(self, subjects: Sequence[Obj], secrets: Iterable[str]) -> list[Diagnostic]:
        """Return what the rules about one object find; what needs the runtime of a TrainJob waits for the stack."""
        return self._diagnostics(self._single_findings(subjects), subjects, secrets)

    def _single_findings(self, subjects: Sequence[Obj]) -> Iterator[Finding]:
        findings = self._objects.check(subjects, Inventory(subjects))
        return (
            finding
            for finding in findings
            if not (finding.undetermined is Undetermined.LINK and finding.path == RUNTIME)
        )

    def _completed(self, subjects: Sequence[Obj], inventory: Inventory) -> Iterator[Finding]:
        """Yield what the rules about one object find in TrainJobs with their runtimes, beyond what they find alone."""
        jobs = [subject for subject in subjects if subject.trains]
        before = set(self._single_findings(jobs)) if jobs else set()
        return (finding for finding in self._objects.check(jobs, inventory) if finding not in before)

    def stack(self, subjects: Sequence[Obj], secrets: Iterable[str], root: str = "") -> list[Diagnostic]:
        """Return what the rules about links find, and which exceptions have ended; the latter with the URN `root`.

        The engine takes what has no URN for a finding about the stack.
        """
        inventory = LateInventory((*subjects, *self._beside), complete=self._whole)
        links = (finding for checker in self._links for finding in checker.check(subjects, inventory.fresh()))
        completed = self._completed(subjects, inventory.fresh())
        diagnostics = self._diagnostics((*links, *completed), subjects, secrets)
        if self._ended is not None:
            expired = exceptions.expired(exceptions.exceptions_of(self._waived, subjects), self._today)
            diagnostics += [Diagnostic(finding.rule, self._ended, root, str(finding)) for finding in expired]
        return diagnostics

    def _diagnostics(self, raw: Iterable[Finding], subjects: Sequence[Obj], secrets: Iterable[str]) -> list[Diagnostic]:
        findings = list(exceptions.waive(raw, self._waived, self._today))
        if not findings:
            return []
        hidden = secret_texts(subjects, secrets)
        redacted = [redact(finding, hidden) for finding in findings]
        certain = [
            Diagnostic(finding.rule, finding.severity, str(finding.origin), str(finding))
            for finding in redacted
            if finding.undetermined is None
        ]
        return [*certain, *_undetermined(finding for finding in redacted if finding.undetermined is not None)]


def _undetermined(findings: Iterable[Finding]) -> Iterator[Diagnostic]:
    """Yield one diagnostic for all rules that need the same value or link."""
    rules: dict[Diagnostic, list[str]] = {}
    for finding in findings:
        place = finding.object if show(finding.path) in finding.message else finding.place
        text = f"{place}: {finding.message}"
        shared = Diagnostic(str(finding.undetermined), finding.severity, str(finding.origin), text)
        rules.setdefault(shared, []).append(finding.rule)
    for shared, names in rules.items():
        yield replace(shared, text=f"{shared.text}. Rules that need it: {', '.join(dict.fromkeys(names))}")
