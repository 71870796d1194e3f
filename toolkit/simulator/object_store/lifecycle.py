"""Which versions of an object a bucket's lifecycle rules expire: the store deletes them, so that it does not grow."""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from xml.etree import ElementTree

from toolkit.simulator.object_store.files import Version

_DAY = 86_400


@dataclass(frozen=True)
class Rule:
    """One enabled rule: how many old versions stay, or for how many days; and whether lone delete marks go."""

    prefix: str
    newer: int | None
    days: int | None
    marks: bool


def read(document: bytes) -> tuple[Rule, ...]:
    """Read what PutBucketLifecycleConfiguration sent; rules by tags or sizes are left out."""
    return tuple(rule for item in _all(ElementTree.fromstring(document), "Rule") if (rule := _rule(item)) is not None)  # noqa: S314 - signed by the one account, kept in the cluster's own home


def expired(rules: Iterable[Rule], versions: Sequence[Version], now: float) -> tuple[Version, ...]:
    """Return the versions (oldest first) that may go.

    S3 asks for both, that so many newer ones exist and that so many days have passed; a simulated cluster writes a
    month's versions in an hour, so here the number is enough where a rule has one.
    """
    gone: set[str] = set()
    for rule in rules:
        if not versions[-1].key.startswith(rule.prefix):
            continue
        if rule.newer is not None:
            gone |= {version.id for version in versions[: max(len(versions) - 1 - rule.newer, 0)]}
        elif rule.days is not None:  # a version is old since the next one was written
            pairs = itertools.pairwise(versions)
            gone |= {version.id for version, later in pairs if later.written + rule.days * _DAY < now}
        if rule.marks and versions[-1].deleted and all(version.id in gone for version in versions[:-1]):
            gone.add(versions[-1].id)
    return tuple(version for version in versions if version.id in gone)


def _rule(item: ElementTree.Element) -> Rule | None:
    scope = next(_all(item, "Filter"), item)
    if _text(item, "Status") != "Enabled" or any(
        name in _names(scope) for name in ("And", "Tag", "ObjectSizeLessThan")
    ):
        return None
    old = next(_all(item, "NoncurrentVersionExpiration"), None)
    newer, days = (
        _text(old, name) if old is not None else "" for name in ("NewerNoncurrentVersions", "NoncurrentDays")
    )
    ends = next(_all(item, "Expiration"), None)
    marks = ends is not None and _text(ends, "ExpiredObjectDeleteMarker") == "true"
    return Rule(_text(scope, "Prefix"), int(newer) if newer else None, int(days) if days else None, marks)


def _all(item: ElementTree.Element, name: str) -> Iterator[ElementTree.Element]:
    return iter([child for child in item if child.tag.rpartition("}")[2] == name])


def _names(item: ElementTree.Element) -> set[str]:
    return {child.tag.rpartition("}")[2] for child in item}


def _text(item: ElementTree.Element, name: str) -> str:
    return next((child.text or "" for child in _all(item, name)), "")
