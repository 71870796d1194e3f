"""Versions of operators that settings name, against those that vendors list for the release."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from components.olm_operator import OlmOperatorArgs
from stacks.checks import container_native
from stacks.checks.operator import subscriptions
from stacks.platform import Settings
from stacks.releases import RELEASES, KnownVersions, Release, either

_VERSION = re.compile(r"(?:^|[-.])v?(\d+\.\d+)")
"""In a channel such as v26.7 or stable-v1.3, and in a starting_csv such as nvidia-network-operator.v26.7.0-1."""


@dataclass(frozen=True)
class _Unfit:
    """A version that is not listed for the release."""

    place: str
    value: str
    version: str
    listed: KnownVersions | None
    elsewhere: tuple[str, ...]
    """Releases that it is listed for."""


def problems(settings: Settings) -> Iterator[str]:
    """Yield every version that a vendor lists for other releases only."""
    for unfit in _unfit(settings):
        listed = unfit.listed
        if listed and unfit.elsewhere:
            yield (
                f"{unfit.place} {unfit.value}: {listed.name} {unfit.version} is not for OpenShift {settings.release} "
                f"({listed.source}); use {either(listed.versions)}, or release {either(unfit.elsewhere)}"
            )


def warnings(settings: Settings) -> Iterator[str]:
    """Yield every version of a known package that is listed for no release, or of a package not for this one."""
    for unfit in _unfit(settings):
        if not (unfit.listed and unfit.elsewhere):
            others = f", or use {either(unfit.listed.versions)}" if unfit.listed else ""
            yield (
                f"{unfit.place} {unfit.value}: no vendor's list in docs/releases.md has {unfit.version} for OpenShift "
                f"{settings.release}; check that they fit{others}"
            )
    yield from container_native.warnings(settings)


def _unfit(settings: Settings) -> Iterator[_Unfit]:
    for place, operator in subscriptions(settings):
        listed = _listed(settings.version, operator.package)
        for field in ("channel", "starting_csv"):
            value = getattr(operator, field) or ""
            found = _VERSION.search(value)
            if found is None or (listed and found[1] in listed.versions):
                continue
            # Only now: it reads the files of all releases.
            if (others := _others(settings.version, operator.package)) or listed:
                elsewhere = tuple(name for name, known in others.items() if found[1] in known.versions)
                yield _Unfit(f"{place}.{field}", value, found[1], listed, elsewhere)


def version_of(operator: OlmOperatorArgs) -> str | None:
    """Return major and minor version of an operator, by its channel; None where that follows several."""
    found = _VERSION.search(operator.starting_csv or "") or _VERSION.search(operator.channel)
    return found[1] if found else None


def _listed(release: Release, package: str) -> KnownVersions | None:
    return next((each for each in release.operators if each.package == package), None)


def _others(release: Release, package: str) -> dict[str, KnownVersions]:
    found = ((other.name, _listed(other, package)) for other in RELEASES.values() if other is not release)
    return {name: known for name, known in found if known}
