"""The report as JUnit XML: a test case for each rule, and one for the reading of the files.

Mandatory findings fail the case of their rule; advisory ones stand in its output, and notes in that of the reading.
"""

from collections import defaultdict
from xml.sax.saxutils import escape, quoteattr

from policies.findings import Severity
from policies.rules import RULES
from toolkit.cli.check.examination import Located, Notice, Result
from toolkit.review.sentences import visible


def report(result: Result) -> str:
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
