"""What the pack says about one resource, or about a stack: pure functions of the objects and the configuration."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from policies import exceptions
from policies.check import Checker
from policies.configuration import Configuration, divided
from policies.exceptions import RuleException
from policies.findings import Finding, Severity
from policies.objects import Obj, objects
from policies.pack.late import LateWorld
from policies.redaction import redact, secret_texts
from policies.rule import AnyRule
from policies.values import show
from policies.world import World


@dataclass(frozen=True)
class Violation:
    """What the engine is told: under which policy, how severe, about which resource, and the text."""

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
        own, general = divided(configuration or {})
        self._whole = general.complete is not False
        self._ended = general.ended
        self._beside = tuple(found for manifest in general.beside for found in objects(manifest))
        settled = Configuration(own, tuple(rules))
        self._objects = Checker([rule for rule in rules if not rule.links], settled)
        self._links = [Checker([rule], settled) for rule in rules if rule.links]
        self._waived, self._today = waived, today

    def resource(self, subjects: Sequence[Obj], secrets: Iterable[str]) -> list[Violation]:
        """Return what the rules about one object say."""
        return self._say(self._objects.check(subjects, World(subjects)), subjects, secrets)

    def stack(self, subjects: Sequence[Obj], secrets: Iterable[str], root: str) -> list[Violation]:
        """Return what the rules about links say, and which exceptions have ended; the latter with the URN `root`."""
        world = LateWorld((*subjects, *self._beside), complete=self._whole)
        links = (finding for checker in self._links for finding in checker.check(subjects, world.fresh()))
        found = self._say(links, subjects, secrets)
        if self._ended is not None:
            ended = exceptions.ended(self._waived, self._today)
            found += [Violation(finding.rule, self._ended, root, str(finding)) for finding in ended]
        return found

    def _say(self, found: Iterable[Finding], subjects: Sequence[Obj], secrets: Iterable[str]) -> list[Violation]:
        findings = list(exceptions.waive(found, self._waived, self._today))
        if not findings:
            return []
        hidden = secret_texts(subjects, secrets)
        shown = [redact(finding, hidden) for finding in findings]
        sure = [
            Violation(finding.rule, finding.severity, str(finding.origin), str(finding))
            for finding in shown
            if finding.doubt is None
        ]
        return [*sure, *_doubts(finding for finding in shown if finding.doubt is not None)]


def _doubts(findings: Iterable[Finding]) -> Iterator[Violation]:
    """Yield one violation for all rules that share a doubt."""
    rules: dict[Violation, list[str]] = {}
    for finding in findings:
        place = finding.object if show(finding.path) in finding.message else finding.place
        doubt = Violation(str(finding.doubt), finding.severity, str(finding.origin), f"{place}: {finding.message}")
        rules.setdefault(doubt, []).append(finding.rule)
    for doubt, names in rules.items():
        yield replace(doubt, text=f"{doubt.text}. Rules that need it: {', '.join(dict.fromkeys(names))}")
