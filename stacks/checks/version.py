"""Versions of operators that settings name, against those that vendors list for the release."""

import re
from collections.abc import Iterator

from components.operators.olm_operator import OlmSubscription
from stacks.checks.operator import subscriptions
from stacks.checks.unlisted import Unlisted
from stacks.releases import RELEASES, KnownVersions, Release, either
from stacks.settings.platform import Settings

_VERSION = re.compile(r"(?:^|[-.])v?(\d+\.\d+)")
"""In a channel such as v26.7 or stable-v1.3, and in a starting_csv such as nvidia-network-operator.v26.7.0-1."""


def unlisted(settings: Settings) -> Iterator[Unlisted]:
    """Yield every version that is not listed for the release.

    It is refused where a vendor lists it for other releases only. One of a known package that is listed for no release,
    or of a package not for this one, is a warning.
    """
    for place, operator in subscriptions(settings):
        listed = _listed(settings.version, operator.package)
        for field in ("channel", "starting_csv"):
            value = getattr(operator, field) or ""
            match = _VERSION.search(value)
            if match is None or (listed and match[1] in listed.versions):
                continue
            # Only now: it reads the files of all releases.
            if (others := _other_releases(settings.version, operator.package)) or listed:
                elsewhere = tuple(name for name, product in others.items() if match[1] in product.versions)
                on = f"for OpenShift {settings.release}"
                if listed and elsewhere:
                    reason = f"{listed.name} {match[1]} is not {on} ({listed.source})"
                    remedy = f"use {either(listed.versions)}, or release {either(elsewhere)}"
                else:
                    reason = f"no vendor's list in docs/reference/releases.md has {match[1]} {on}"
                    remedy = "check that they fit" + (f", or use {either(listed.versions)}" if listed else "")
                yield Unlisted(f"{place}.{field}", value, reason, remedy, refused=bool(listed and elsewhere))


def version_of(operator: OlmSubscription) -> str | None:
    """Return major and minor version of an operator, by its channel; None where that follows several."""
    match = _VERSION.search(operator.starting_csv or "") or _VERSION.search(operator.channel)
    return match[1] if match else None


def _listed(release: Release, package: str) -> KnownVersions | None:
    return next((product for product in release.operators if product.package == package), None)


def _other_releases(release: Release, package: str) -> dict[str, KnownVersions]:
    products = ((other.name, _listed(other, package)) for other in RELEASES.values() if other is not release)
    return {name: product for name, product in products if product}
