"""The report as SARIF 2.1.0, which code hosts show beside the lines of a change."""

import hashlib
import json
import os
from pathlib import Path
from typing import Any
from urllib.parse import quote

from policies import version
from policies.findings import Finding, Severity
from policies.rule import AnyRule
from policies.rules import RULES
from toolkit.cli.check.examination import Located, Notice, Result

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {Severity.MANDATORY: "error", Severity.ADVISORY: "warning"}


def report(result: Result) -> str:
    """Return the document: all rules, and a result for each finding."""
    index = {rule.name: number for number, rule in enumerate(RULES)}
    number = version()
    driver = {"name": "hpc check", "version": number, "semanticVersion": number}
    run = {
        "tool": {"driver": {**driver, "rules": [_rule(rule) for rule in RULES]}},
        "columnKind": "unicodeCodePoints",
        "invocations": [
            {
                "executionSuccessful": not result.problems,
                "toolExecutionNotifications": [
                    *(_notification(problem, "error") for problem in result.problems),
                    *(_notification(note, "note") for note in result.notes),
                ],
            }
        ],
        "results": [_result(located, index) for located in result.findings],
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2)


def _rule(rule: AnyRule) -> dict[str, Any]:
    return {
        "id": rule.name,
        "shortDescription": {"text": rule.what},
        "fullDescription": {"text": rule.why},
        "help": {
            "text": f"{rule.remedy}. Source: {rule.source}.",
            "markdown": f"{rule.what}\n\n**Why**: {rule.why}\n\n**Remedy**: {rule.remedy}. ({rule.page})",
        },
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
    }


def _result(located: Located, index: dict[str, int]) -> dict[str, Any]:
    finding = located.finding
    where = f"{finding.object}, container {finding.container}" if finding.container else finding.object
    return {
        "ruleId": finding.rule,
        **({"ruleIndex": index[finding.rule]} if finding.rule in index else {}),
        "level": _LEVELS[finding.severity],
        "message": {"text": f"{where}: {finding.message}. {finding.remedy}."},
        "locations": [_location(located.file, located.line, located.column, finding)],
        "partialFingerprints": {"finding/v1": _fingerprint(finding)},
    }


def _location(file: str, line: int, column: int, finding: Finding | None = None) -> dict[str, Any]:
    place: dict[str, Any] = {"artifactLocation": {"uri": _uri(file)}}
    if line:
        place["region"] = {"startLine": line, "startColumn": column}
    names = [{"fullyQualifiedName": finding.place, "kind": "object"}] if finding else []
    return {"physicalLocation": place, **({"logicalLocations": names} if names else {})}


def _uri(file: str) -> str:
    path = Path(file)
    if path.is_absolute() and path.is_relative_to(Path.cwd()):
        path = path.relative_to(Path.cwd())  # a code host finds the lines of a change by relative paths only
    return path.as_uri() if path.is_absolute() else quote(os.fsencode(path.as_posix()))


def _fingerprint(finding: Finding) -> str:
    """Identify a finding while lines above it come and go."""
    return hashlib.sha256("\0".join((finding.rule, finding.place, finding.message)).encode()).hexdigest()


def _notification(notice: Notice, level: str) -> dict[str, Any]:
    return {
        "level": level,
        "message": {"text": f"{notice.file} {notice.message}"},
        "locations": [_location(notice.file, notice.line, notice.column)],
    }
