"""Exceptions to the rules, as data: rule, object, reason, expiry."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from pydantic import Field, PrivateAttr, ValidationError

from core import field_errors, project
from core.model import Model
from core.yaml import places
from core.yaml import text as yaml_text
from core.yaml.errors import FileError
from policies.configuration import EXCEPTIONS, unknown_rule
from policies.manifests.objects import Obj
from policies.rule import Finding, Severity
from policies.rules import RULES

FILE = Path(__file__).with_name("exceptions.yaml")
PLACE = "policies/exceptions.yaml"
"""Where a site has exceptions of its own, in its project's folder."""
NAME = EXCEPTIONS
_CLOSE = 0.85
"""How similar a misspelt name is to that of a rule."""
_REMEDY = "Fix the object, or renew the exception with its reason; delete the exception when nothing needs it"


class ExceptionsError(ValueError):
    """A file of exceptions is wrong; the message names the entry, the field, the value and the remedy."""


class RuleException(Model):
    """One rule does not hold for one object, until a day."""

    rule: str = Field(description="name of the rule")
    object: str = Field(
        description="as findings name it, e.g. `DaemonSet kube-system/rdma-shared-dp-ds`, or with the container behind "
        "it: `Pod adas/train, main`; * matches any"
    )
    reason: str = Field(min_length=10, description="why, and who accepted it")
    expires: date = Field(description="last day on which it holds, e.g. 2027-06-30")

    _place: tuple[str, int] = PrivateAttr(("", 0))

    @property
    def place(self) -> tuple[str, int]:
        """File and line, counted from 1, where it is."""
        return self._place

    def at(self, file: str, line: int) -> "RuleException":
        """Return it with its place."""
        self._place = (file, line)
        return self

    @property
    def name(self) -> str:
        """What messages call it."""
        return f"exception to {self.rule} for {self.object}"

    @property
    def subject(self) -> str:
        """The object that it names, without a container."""
        return self.object.partition(", ")[0]

    def matches(self, finding: Finding) -> bool:
        """Return whether it is about this finding."""
        return self.rule == finding.rule and any(fnmatchcase(name, self.object) for name in _names(finding))


@dataclass
class Tally:
    """What exceptions did: how many findings they took away, and which of them are about any finding."""

    excepted: int = 0
    used: list[RuleException] = field(default_factory=list)


def load(root: Path | None = None) -> tuple[RuleException, ...]:
    """Return the exceptions of this project and those of the site whose folder is `root`, the project's by default.

    Raises ExceptionsError for one that is not well formed.
    """
    file = (root or project.FOLDER) / PLACE
    return (*read(FILE), *(read(file, PLACE) if file.is_file() and not file.samefile(FILE) else ()))


def read(path: Path, name: str = "") -> tuple[RuleException, ...]:
    """Read a YAML list of exceptions, whose places have the file's `name`.

    Raises ExceptionsError, also for a rule whose name is close to one of this project's. Another one may be a site's.
    """
    rules = [rule.name for rule in RULES]
    name = name or str(path)
    try:
        content: Any = yaml_text.read_file(path, name)
        node = places.composed(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ExceptionsError(f"cannot read the exceptions in {name}: {error.strerror}; correct the path") from None
    except FileError as error:
        raise ExceptionsError(f"cannot read the exceptions: {error}") from None
    if not isinstance(content or [], list):
        raise ExceptionsError(f"{name}: a list of exceptions is wanted, with rule, object, reason and expires each")
    entries = []
    for number, entry in enumerate(content or [], start=1):
        line = node.value[number - 1].start_mark.line + 1 if node else 0
        try:
            exception = RuleException.model_validate(entry).at(name, line)
        except ValidationError as error:
            reasons = "; ".join(
                field_errors.sentence(details, places.path(details["loc"])) for details in error.errors()
            )
            raise ExceptionsError(f"{name}:{line}: exception {number}: {reasons}") from None
        if exception.rule not in rules and get_close_matches(exception.rule, rules, 1, _CLOSE):
            raise ExceptionsError(f"{name}:{line}: exception {number}: rule: {unknown_rule(exception.rule, rules)}")
        entries.append(exception)
    return tuple(entries)


def waive(
    findings: Iterable[Finding], exceptions: Iterable[RuleException], today: date, tally: Tally | None = None
) -> Iterator[Finding]:
    """Yield the findings that no exception covers on `today`; the message of one whose exception has expired says so.

    `tally` takes note of the others.
    """
    entries = tuple(exceptions)
    counts = tally or Tally()
    for finding in findings:
        covering = [entry for entry in entries if entry.matches(finding)]
        counts.used += covering
        if not covering:
            yield finding
        elif all(entry.expires < today for entry in covering):
            yield finding._replace(message=f"{finding.message} (its exception ended on {covering[0].expires})")
        else:
            counts.excepted += 1


def exceptions_of(exceptions: Iterable[RuleException], subjects: Collection[Obj]) -> tuple[RuleException, ...]:
    """Return the exceptions that name one of the examined objects: others belong to stacks that are not examined."""
    names = {str(subject) for subject in subjects}
    return tuple(entry for entry in exceptions if any(fnmatchcase(name, entry.subject) for name in names))


def unused(exceptions: Iterable[RuleException], tally: Tally) -> Iterator[RuleException]:
    """Yield the exceptions that are about no finding."""
    used = {id(entry) for entry in tally.used}
    return (entry for entry in exceptions if id(entry) not in used)


def expired(exceptions: Iterable[RuleException], today: date) -> Iterator[Finding]:
    """Yield a mandatory finding for each expired exception: renew or delete it."""
    for entry in exceptions:
        if entry.expires < today:
            yield Finding(
                rule=NAME,
                severity=Severity.MANDATORY,
                object=entry.name,
                message=f"ended on {entry.expires} ({entry.reason})",
                remedy=_REMEDY,
                origin=entry.place,
            )


def _names(finding: Finding) -> Iterator[str]:
    """Yield what a finding's object may be called, from the object alone to what reports print."""
    yield finding.object
    if finding.container:
        yield f"{finding.object}, {finding.container}"
        yield f"{finding.object}, container {finding.container}"
    yield finding.subject
