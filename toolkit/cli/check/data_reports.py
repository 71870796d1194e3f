"""Reports for programs: JSON, SARIF 2.1.0, which code hosts show beside the lines of a change, and JUnit XML.

Fields of the JSON may be added; those that are there keep their names and meanings.

```json
{
  "version": 1,
  "summary": {"files": 1, "objects": 1, "pods": 1, "mandatory": 1, "advisory": 0, "unverified": 0,
              "excepted": 0, "unreadable": 0},
  "findings": [{
    "file": "job.yaml", "line": 20, "column": 15,
    "rule": "rdma-exactly-one", "severity": "mandatory", "doubt": null,
    "object": "Job adas/train", "container": "train", "path": ["spec", "template", "..."],
    "message": "...", "remedy": "..."
  }],
  "unreadable": [{"file": "broken.yaml", "line": 3, "column": 1, "message": "is not YAML: ..."}],
  "notes": [{"file": "values.yaml", "line": 1, "column": 1, "message": "is not a Kubernetes object ..."}]
}
```

Findings are sorted by file, line, column and rule. `doubt` is null, "unverified-value" or "unverified-link"; `column`
and `line` count from 1 and are 0 where a notice is about a file as a whole, and of objects that a stack declares.

JUnit has a test case for each rule, and one for the reading of the files. Mandatory findings fail the case of their
rule; advisory ones stand in its output, and notes in that of the reading.
"""

import hashlib
import json
import os
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import Any
from urllib.parse import quote
from xml.sax.saxutils import escape, quoteattr

from policies import version
from policies.rule import AnyRule, Finding, Severity
from policies.rules import RULES
from toolkit.cli.check import text_report
from toolkit.cli.check.examination import Located, Notice, Result
from toolkit.review.sentences import visible

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {Severity.MANDATORY: "error", Severity.ADVISORY: "warning"}


class Format(StrEnum):
    """Form of a report."""

    TEXT = "text"
    JSON = "json"
    SARIF = "sarif"
    JUNIT = "junit"


def json_report(result: Result) -> str:
    """Return the document."""
    findings = [_finding(located) for located in result.findings]
    summary = {
        "files": result.files,
        "objects": result.objects,
        "pods": result.pods,
        **{str(level): sum(finding["severity"] == level for finding in findings) for level in Severity},
        "unverified": sum(finding["doubt"] is not None for finding in findings),
        "excepted": result.excepted,
        "unreadable": len(result.problems),
    }
    content = {
        "version": 1,
        "summary": summary,
        "findings": findings,
        "unreadable": [asdict(problem) for problem in result.problems],
        "notes": [asdict(note) for note in result.notes],
    }
    return json.dumps(content, indent=2)


def _finding(located: Located) -> dict[str, Any]:
    finding = located.finding
    return {
        "file": located.file,
        "line": located.line,
        "column": located.column,
        "rule": finding.rule,
        "severity": finding.severity,
        "doubt": finding.undetermined,
        "object": finding.object,
        "container": finding.container,
        "path": finding.path,
        "message": finding.message,
        "remedy": finding.remedy,
    }


def sarif_report(result: Result) -> str:
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


def junit_report(result: Result) -> str:
    """Return the document."""
    by_rule: dict[str, list[Located]] = defaultdict(list)
    for located in result.findings:
        by_rule[located.finding.rule].append(located)
    names = dict.fromkeys([*(rule.name for rule in RULES), *by_rule])
    cases = [_case(name, by_rule[name]) for name in names]
    unreadable, notes = ([_notice(notice) for notice in notices] for notices in (result.problems, result.notes))
    content = f"<error {_message(unreadable, 'unreadable')}>{_text(unreadable)}</error>" if unreadable else ""
    content += f"<system-out>{_text(notes)}</system-out>" if notes else ""
    cases.append(f'<testcase classname="hpc.check" name="files-are-readable" time="0">{content}</testcase>')
    failures = sum(any(_mandatory(located) for located in group) for group in by_rule.values())
    counts = f'name="hpc check" tests="{len(cases)}" failures="{failures}" errors="{int(bool(unreadable))}"'
    suite = "\n".join(f"    {case}" for case in cases)
    content = (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<testsuites {counts} time="0">\n  <testsuite {counts} skipped="0" time="0">\n{suite}\n  </testsuite>\n'
        "</testsuites>"
    )
    return content.encode("ascii", "xmlcharrefreplace").decode()


def _case(name: str, findings: list[Located]) -> str:
    failed = [_line(located) for located in findings if _mandatory(located)]
    other = [_line(located) for located in findings if not _mandatory(located)]
    content = f"<failure {_message(failed, 'findings')}>{_text(failed)}</failure>" if failed else ""
    content += f"<system-out>{_text(other)}</system-out>" if other else ""
    return f'<testcase classname="hpc.check" name={quoteattr(name)} time="0">{content}</testcase>'


def _mandatory(located: Located) -> bool:
    return located.finding.severity is Severity.MANDATORY


def _line(located: Located) -> str:
    return visible(f"{_place(located)}: {located.finding}")


def _notice(notice: Notice) -> str:
    return visible(f"{_place(notice)}: {notice.message}")


def _place(entry: Located | Notice) -> str:
    return f"{entry.file}:{entry.line}:{entry.column}" if entry.line else entry.file


def _message(lines: list[str], what: str) -> str:
    text = lines[0] if len(lines) == 1 else f"{len(lines)} {what}"
    return f'type="{what}" message={quoteattr(text)}'


def _text(lines: list[str]) -> str:
    return escape("\n".join(lines))


REPORTS: Mapping[Format, Callable[[Result], str]] = {
    Format.TEXT: text_report.report,
    Format.JSON: json_report,
    Format.SARIF: sarif_report,
    Format.JUNIT: junit_report,
}
