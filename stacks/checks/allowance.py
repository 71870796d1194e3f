"""Versions outside a vendor's table, and those of them that `allow` of the settings accepts."""

from collections.abc import Iterator

from stacks.checks import Unlisted, driver, operator, repeated, storage
from stacks.settings.platform import Settings
from stacks.settings.stack import AllowedVersion


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
    """Yield versions that no table decides about, and entries of `allow` that nothing needs."""
    yield from (str(unlisted) for unlisted in _unallowed(settings) if not unlisted.refused)
    for entry, unlisted in accepted(settings):
        if unlisted is None:
            yield f"allow: {entry.what} {entry.value} is not outside a vendor's table; remove the entry"


def accepted(settings: Settings) -> Iterator[tuple[AllowedVersion, Unlisted | None]]:
    """Yield the entries of `allow`, each with what it accepts: None where nothing needs it."""
    unlisted = {(version.place, version.value): version for version in _unlisted(settings)} if settings.allow else {}
    yield from ((entry, unlisted.get((entry.what, entry.value))) for entry in settings.allow)


def _unallowed(settings: Settings) -> Iterator[Unlisted]:
    allowed = {(entry.what, entry.value) for entry in settings.allow}
    yield from (version for version in _unlisted(settings) if (version.place, version.value) not in allowed)


def _unlisted(settings: Settings) -> Iterator[Unlisted]:
    yield from operator.unlisted(settings)
    yield from storage.unlisted(settings)
    yield from driver.unlisted(settings)
