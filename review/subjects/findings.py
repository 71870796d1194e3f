"""The findings of the policies, grouped by rule: what ends the update first, then what is new."""

from collections import defaultdict

from apis.wording import plural
from review.indexed_review import IndexedReview
from review.model import Finding
from review.section import Line, Section
from review.sentences import name, quoted

_ONE = 400
"""Characters of a message that are shown."""


def find(indexed: IndexedReview) -> Section | None:
    """Report what the policies found."""
    groups: dict[tuple[bool, bool, str, str], list[str]] = defaultdict(list)
    for finding in indexed.review.findings:
        groups[not finding.mandatory, finding.new is False, finding.policy, finding.remedy].append(_message(finding))
    if not groups:
        return None
    lines = [_line(*key, messages) for key, messages in sorted(groups.items())]
    mandatory = sum(finding.mandatory for finding in indexed.review.findings)
    advisory = len(indexed.review.findings) - mandatory
    levels = [f"{mandatory:,} mandatory: the update is refused"] if mandatory else []
    levels += [f"{advisory:,} advisory"] if advisory else []
    return Section(f"Policy findings ({', '.join(levels)})", tuple(lines), vital=True)


def _line(advisory: bool, old: bool, policy: str, remedy: str, messages: list[str]) -> Line:
    level = "advisory" if advisory else "mandatory"
    age = ", not new" if old else ""
    do = f" {quoted(remedy, _ONE)}." if remedy else ""
    messages = sorted(messages)
    if len(messages) == 1:
        return Line(f"{name(policy)} ({level}{age}): {messages[0]}.{do}", alarm=not advisory)
    return Line(
        f"{name(policy)} ({level}{age}), {plural(len(messages), 'time')}.{do}", tuple(messages), alarm=not advisory
    )


def _message(finding: Finding) -> str:
    return quoted(finding.message, _ONE).removesuffix(".")
