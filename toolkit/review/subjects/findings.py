"""Findings of the policies, warnings, and versions outside a vendor's table.

Findings are grouped by rule and message: what ends the update first, then what is new.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

from core.wording import plural
from toolkit.review.cluster_facts import AllowedFact
from toolkit.review.indexed_review import IndexedReview
from toolkit.review.section import Line, Section, section
from toolkit.review.sentences import enumerated, name, quoted

Manifests: TypeAlias = Mapping[str, str]
"""FILE:LINE by object, of a user's own objects."""
_LONGEST = 400
"""Characters of a message that are shown."""
_PLACE = re.compile(r"(?P<object>[A-Z]\w* (?:\S*\(no name\)|\S+?))(?:, .+)?")
"""Where a finding of the pack is: the object, and perhaps a container and a field."""


def find(indexed: IndexedReview) -> Section | None:
    """Report the findings of the policies."""
    groups: dict[tuple[bool, bool, str, str], list[str]] = defaultdict(list)
    for finding in indexed.review.findings:
        groups[not finding.mandatory, finding.new is False, finding.policy, finding.remedy].append(
            finding.message.removesuffix(".")
        )
    if not groups:
        return None
    manifests = indexed.review.facts.manifests
    lines = [_line(key, messages, manifests) for key, messages in sorted(groups.items())]
    mandatory = sum(finding.mandatory for finding in indexed.review.findings)
    advisory = len(indexed.review.findings) - mandatory
    levels = [f"{mandatory:,} mandatory: the update is refused"] if mandatory else []
    levels += [f"{advisory:,} advisory"] if advisory else []
    return Section(f"Policy findings ({', '.join(levels)})", tuple(lines), vital=True)


def _line(key: tuple[bool, bool, str, str], messages: list[str], manifests: Manifests) -> Line:
    advisory, old, policy, remedy = key
    head = f"{name(policy)} ({'advisory' if advisory else 'mandatory'}{', not new' if old else ''})"
    do = f" {quoted(remedy, _LONGEST)}." if remedy else ""
    if len(messages) == 1:
        place = _manifest(messages[0], manifests)
        return Line(f"{head}: {place}{quoted(messages[0], _LONGEST)}.{do}", alarm=not advisory)
    head += f", {plural(len(messages), 'time')}"
    groups = _by_message(messages)
    if len(groups) == 1:
        ((message, places),) = groups.items()
        return Line(f"{head}: {quoted(message, _LONGEST)}.{do}", tuple(_listed(places, manifests)), alarm=not advisory)
    return Line(f"{head}.{do}", tuple(_details(groups, manifests)), alarm=not advisory)


def _by_message(messages: Iterable[str]) -> dict[str, list[str]]:
    """Return the objects of each message; none of one that names no object."""
    groups: dict[str, list[str]] = defaultdict(list)
    for text in sorted(messages):
        place, _, message = text.partition(": ")
        subject = _PLACE.fullmatch(place) if message else None
        if subject is None:
            groups[text] = []
        else:
            groups[message].append(subject["object"])
    return groups


def _manifest(text: str, manifests: Manifests) -> str:
    """Return the place of the manifest of the object that a message begins with, as its prefix."""
    subject = _PLACE.fullmatch(text.partition(": ")[0])
    place = manifests.get(subject["object"]) if subject else None
    return f"{name(place)}: " if place else ""


def _details(groups: dict[str, list[str]], manifests: Manifests) -> Iterator[str]:
    for message, places in groups.items():
        shown = quoted(message, _LONGEST)
        if len(places) > 1:
            yield f"{shown}, {plural(len(places), 'time')}: {', '.join(_listed(places, manifests))}"
        else:
            yield ": ".join((*_named(places, manifests), shown))


def _listed(places: Iterable[str], manifests: Manifests) -> Iterator[str]:
    if objects := _named(dict.fromkeys(places), manifests):
        yield enumerated(objects, 20)


def _named(places: Iterable[str], manifests: Manifests) -> list[str]:
    """Return the objects, with where the manifests of a user's own are."""
    return [f"{name(place)} in {name(manifests[place])}" if place in manifests else name(place) for place in places]


def find_warnings(indexed: IndexedReview) -> Section | None:
    """Report the warnings as they are, but for those about versions that a section of their own has."""
    unneeded = [
        f"allow: {deviation.what} {deviation.value} " for deviation in indexed.facts.allowed if not deviation.table
    ]
    shown = [text for text in indexed.review.warnings if not any(entry in text for entry in unneeded)]
    return section("Warnings of the engine and the program", [Line(quoted(text)) for text in shown])


def find_unlisted_versions(indexed: IndexedReview) -> Section | None:
    """Report what the settings accept, with the reason that they give."""
    return section("Versions outside a vendor's table", [*map(_accepted, indexed.facts.allowed)], vital=True)


def _accepted(allowed: AllowedFact) -> Line:
    what = f"{name(allowed.what)} {name(allowed.value)}"
    if not allowed.table:
        return Line(f"{name('allow')} of {what}: nothing needs the entry; remove it")
    return Line(f"{what} is accepted: {quoted(allowed.reason)} ({quoted(allowed.table)})")
