"""Exceptions to the rules, as data: rule, object, reason, expiry."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import date
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import yaml
from pydantic import Field, ValidationError

from hardware.model import Model
from policies.findings import Finding, Severity

FILE = Path(__file__).with_name("exceptions.yaml")
NAME = "exceptions"
_REMEDY = "Mend the object, or renew the exception with its reason; delete it when nothing needs it"


class ExceptionsError(ValueError):
    """A file of exceptions is wrong; the message names the entry, the field, the value and the remedy."""


class RuleException(Model):
    """One rule does not hold for one object, until a day."""

    rule: str = Field(description="name of the rule")
    object: str = Field(
        description="as findings name it, e.g. `DaemonSet kube-system/rdma-shared-dp-ds`; * matches any"
    )
    reason: str = Field(min_length=10, description="why, and who accepted it")
    expires: date = Field(description="last day on which it holds, e.g. 2027-06-30")

    def matches(self, finding: Finding) -> bool:
        """Say whether it is about this finding."""
        return self.rule == finding.rule and fnmatchcase(finding.object, self.object)


def load(path: Path = FILE) -> tuple[RuleException, ...]:
    """Read a YAML list of exceptions; raise ExceptionsError for one that is not well formed."""
    try:
        content: Any = yaml.safe_load(path.read_text())
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ExceptionsError(f"cannot read the exceptions in {path}: {error}") from error
    if not isinstance(content or [], list):
        raise ExceptionsError(f"{path}: a list of exceptions is wanted, with rule, object, reason and expires each")
    found = []
    for number, entry in enumerate(content or [], start=1):
        try:
            found.append(RuleException.model_validate(entry))
        except ValidationError as error:
            lines = (f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors())
            raise ExceptionsError(f"{path}, exception {number}: {'; '.join(lines)}") from None
    return tuple(found)


def waive(findings: Iterable[Finding], exceptions: Iterable[RuleException], today: date) -> Iterator[Finding]:
    """Yield the findings that no exception covers on `today`; one whose exception has ended says so."""
    known = tuple(exceptions)
    for finding in findings:
        mine = [entry for entry in known if entry.matches(finding)]
        if not mine:
            yield finding
        elif all(entry.expires < today for entry in mine):
            yield replace(finding, message=f"{finding.message} (its exception ended on {mine[0].expires})")


def ended(exceptions: Iterable[RuleException], today: date) -> Iterator[Finding]:
    """Yield a mandatory finding for each exception that has ended: it is to be renewed or deleted."""
    for entry in exceptions:
        if entry.expires < today:
            yield Finding(
                rule=NAME,
                severity=Severity.MANDATORY,
                object=f"exception to {entry.rule} for {entry.object}",
                message=f"ended on {entry.expires} ({entry.reason})",
                remedy=_REMEDY,
            )
