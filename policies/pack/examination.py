"""What the pack reports about one resource, or about a stack: functions of the objects and the configuration."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, TypeVar

from core.apis.kinds import Kind
from policies import exceptions
from policies.check import Checker
from policies.configuration import Configuration, divide
from policies.exceptions import RuleException
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj, objects
from policies.manifests.train_jobs import RUNTIME
from policies.manifests.values import show
from policies.rule import AnyRule, Finding, Severity, Undetermined, redact, secret_texts

T = TypeVar("T")


class LateInventory(Inventory):
    """An inventory that stops being complete for a rule that queries a kind with an object of unknown name.

    A rule begins with `fresh()`; what it then queries through `of`, `get` and `once` decides about its links. Other
    rules, and rules that query other kinds, still know what is missing.
    """

    def __init__(self, objects: Iterable[Obj], *, complete: bool) -> None:
        super().__init__(objects, complete=complete)
        self._whole = complete
        self._unnamed = {(obj.group, obj.kind) for obj in self.objects if "?" in (obj.name, obj.namespace)}
        self._late: dict[Callable[[Inventory], Any], bool] = {}

    def fresh(self) -> "LateInventory":
        """Forget what was queried, and return this inventory."""
        self.complete = self._whole
        return self

    def of(self, kind: Kind) -> tuple[Obj, ...]:
        """Return the objects of one kind, in any of its versions."""
        self._query(kind)
        return super().of(kind)

    def get(self, kind: Kind, name: str, namespace: str = "") -> Obj | None:
        """Return one object, or None when it is not among them."""
        obj = super().get(kind, name, namespace)
        if obj is None:
            self._query(kind)
        return obj

    def once(self, make: Callable[[Inventory], T]) -> T:
        """Return `make(self)`, computed at the first call only; what it queried counts at every call."""
        before, self.complete = self.complete, self._whole
        result = super().once(make)
        late = self._late.setdefault(make, not self.complete and self._whole)
        self.complete = before and not late
        return result

    def _query(self, kind: Kind) -> None:
        if (kind.group, kind.kind) in self._unnamed:
            self.complete = False


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
        """Yield what more the rules about one object find with what completes it: a runtime, templates of claims."""
        jobs = [subject for subject in subjects if subject.trains or subject.claims]
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
