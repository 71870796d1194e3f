"""What OpenShift itself says of its next update: why it is blocked, and the risks of versions by name."""

from collections.abc import Iterator, Mapping
from typing import Any

from core.apis import kinds
from core.apis.names import CLUSTER_VERSION
from policies.manifests.values import entries, read
from stacks.settings.platform import Settings
from toolkit.cli.shared import metadata
from toolkit.cli.shared.hazards import nodes, versions
from toolkit.cli.shared.hazards.hazard import Hazard
from toolkit.cli.shared.hazards.live import Live
from toolkit.review.sentences import enumerated, quoted

Object = Mapping[str, Any]
_PLACE = f"ClusterVersion {CLUSTER_VERSION}"
_LIMIT = "olm.maxOpenShiftVersion"
_BLOCKED = "Do what the message says before an update to the next minor version; others are not blocked."
_OPERATORS = (
    f"An operator's annotation {_LIMIT} is below the next version: update that operator first, by a channel that has a "
    "version for it."
)
_RISK = "Update to a version without it, or read the page and decide whether it concerns this cluster."


def hazards(_: Settings, live: Live) -> Iterator[Hazard]:
    """Yield why no minor update is possible, and each risk that OpenShift does not rule out for this cluster."""
    for obj in live.list(kinds.CLUSTER_VERSION):
        if metadata.name(obj) != CLUSTER_VERSION:
            continue
        if blocked := nodes.condition(obj, "Upgradeable", "False"):
            text = nodes.why(blocked)
            remedy = _OPERATORS if "IncompatibleOperators" in text or _LIMIT in text else _BLOCKED
            yield Hazard("update-blocked", _PLACE, f"Upgradeable is False ({text})", remedy)
        yield from _risks(obj)


def _risks(obj: Object) -> Iterator[Hazard]:
    targets: dict[str, list[str]] = {}
    risks: dict[str, Object] = {}
    for update in entries(obj, "status", "conditionalUpdates"):
        if _recommended(update):
            continue
        for risk in entries(update, "risks"):
            name = str(read(risk, "name"))
            risks.setdefault(name, risk)
            targets.setdefault(name, []).append(str(read(update, "release", "version")))
    for name in sorted(risks):
        to = enumerated(sorted(targets[name], key=lambda version: versions.parsed(version) or ()), 6)
        cause = f"risk {name} of an update to {to}: {quoted(str(read(risks[name], 'message') or ''), 300)}"
        yield Hazard("update-risk", _PLACE, cause.rstrip(": ."), _RISK, str(read(risks[name], "url") or ""))


def _recommended(update: Object) -> bool:
    conditions = entries(update, "conditions")
    return any((read(entry, "type"), read(entry, "status")) == ("Recommended", "True") for entry in conditions)
