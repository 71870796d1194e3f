"""All rules over a list of manifests, without an engine."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from policies.findings import Finding
from policies.rule import Limits, Rule
from policies.rules import RULES


def check(
    manifests: Iterable[Mapping[str, Any]], limits: Limits | None = None, rules: Sequence[Rule] = RULES
) -> tuple[Finding, ...]:
    """Return what all `rules` find in all `manifests`, in the order of the manifests."""
    return tuple(finding for manifest in manifests for rule in rules for finding in rule.check(manifest, limits))
