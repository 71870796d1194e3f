"""Versions outside a vendor's table, and those of them that `allow` of the settings accepts."""

import re
from collections.abc import Iterator

from stacks.checks import Unlisted, component_versions, driver, operator, repeated, storage
from stacks.settings.platform import Settings
from stacks.settings.stack import AllowedVersion

_STEP = re.compile(r"\d+(\.\d+)* to \d+(\.\d+)*")
"""Value of an entry that accepts a step between two versions, which the vendor does not support."""


def problems(settings: Settings) -> Iterator[str]:
    """Yield every version that a vendor's table refuses and the settings do not allow."""
    for unlisted in _unallowed(settings):
        if unlisted.refused:
            yield (
                f"{unlisted}; or accept it: `allow: [{{what: {unlisted.place}, value: "
                f'"{unlisted.value}", reason: ...}}]`'
            )
    yield from repeated("allow", (f"{entry.what} {entry.value}" for entry in settings.allow))


def warnings(settings: Settings) -> Iterator[str]:
    """Yield versions that no table decides about or whose vendors have ended them, and needless entries of `allow`."""
    yield from (str(unlisted) for unlisted in _unallowed(settings) if not unlisted.refused)
    yield from component_versions.ended(settings)
    for entry, table in accepted(settings):
        if not table:
            yield f"allow: {entry.what} {entry.value} is not outside a vendor's table; remove the entry"


def accepted(settings: Settings) -> Iterator[tuple[AllowedVersion, str]]:
    """Yield the entries of `allow`, each with what the vendor says: empty where nothing needs the entry."""
    unlisted = {(version.place, version.value): version for version in _unlisted(settings)} if settings.allow else {}
    for entry in settings.allow:
        version = unlisted.get((entry.what, entry.value))
        yield entry, version.reason if version else _step(entry, settings)


def _step(entry: AllowedVersion, settings: Settings) -> str:
    if not _STEP.fullmatch(entry.value):
        return ""
    step = component_versions.accepted(entry.what, entry.value, settings)
    return str(step) if step and step.verdict.refused else ""


def _unallowed(settings: Settings) -> Iterator[Unlisted]:
    allowed = {(entry.what, entry.value) for entry in settings.allow}
    yield from (version for version in _unlisted(settings) if (version.place, version.value) not in allowed)


def _unlisted(settings: Settings) -> Iterator[Unlisted]:
    yield from operator.unlisted(settings)
    yield from storage.unlisted(settings)
    yield from driver.unlisted(settings)
