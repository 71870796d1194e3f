"""Nodes on which the upgrade of a driver does not go on, by the labels of its operator, and operands left paused.

The states and the count of unavailable nodes are those of NVIDIA/k8s-operator-libs (pkg/upgrade): a node is started
with while fewer than maxUnavailable nodes with the driver are cordoned or not ready.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.apis import kinds, names
from core.apis.kinds import Kind
from policies.manifests.values import mapping, read
from stacks.settings.platform import Settings
from toolkit.cli.shared import metadata
from toolkit.cli.shared.hazards import nodes
from toolkit.cli.shared.hazards.hazard import Hazard
from toolkit.cli.shared.hazards.hazard import nodes as place
from toolkit.cli.shared.hazards.live import Live
from toolkit.review.sentences import enumerated

Object = Mapping[str, Any]
_STUCK, _PAUSED = "driver-upgrade-stuck", "operands-paused"
_REQUIRED, _DONE, _FAILED = "upgrade-required", "upgrade-done", "upgrade-failed"
_IDLE = ("", _REQUIRED, _DONE, _FAILED)
_AWAY = "paused-for-driver-upgrade"
_DEFAULT = "25%"
"""maxUnavailable where a policy has none, as its definition has it."""
_SOURCE = "github.com/NVIDIA/gpu-operator/issues/2509; NVIDIA/k8s-operator-libs pkg/upgrade"
_PAUSED_SOURCE = "github.com/NVIDIA/gpu-operator/issues/316; release notes of the GPU Operator 26.3.2"


@dataclass(frozen=True)
class _Driver:
    """The driver of one operator: where its policy is, and which it is in labels."""

    title: str
    label: str
    policies: tuple[tuple[Kind, tuple[str, ...]], ...]

    @property
    def state(self) -> str:
        return f"nvidia.com/{self.label}-driver-upgrade-state"

    @property
    def skip(self) -> str:
        return f"nvidia.com/{self.label}-driver-upgrade.skip"


_DRIVERS = (
    _Driver("GPU driver", "gpu", ((kinds.CLUSTER_POLICY, ("spec", "driver")), (kinds.NVIDIA_DRIVER, ("spec",)))),
    _Driver(
        "adapters' driver",
        "ofed",
        ((kinds.NIC_CLUSTER_POLICY, ("spec", "ofedDriver")), (kinds.NIC_NODE_POLICY, ("spec", "ofedDriver"))),
    ),
)


def hazards(_: Settings, live: Live) -> Iterator[Hazard]:
    """Yield nodes whose upgrade has failed or cannot begin, and those whose operands were left paused."""
    listed = live.list(kinds.NODE)
    for driver in _DRIVERS:
        states = {metadata.name(node): metadata.labels(node).get(driver.state, "") for node in listed}
        if any(states.values()):
            managed = [node for node in listed if states[metadata.name(node)]]
            yield from _stuck(driver, managed, states, _policies(driver, live))
    yield from _paused(listed)


def _policies(driver: _Driver, live: Live) -> list[Object]:
    policies = (mapping(obj, *path) for kind, path in driver.policies for obj in live.list(kind))
    return [mapping(part, "upgradePolicy") for part in policies if part]


def _stuck(
    driver: _Driver, managed: Sequence[Object], states: Mapping[str, str], policies: Sequence[Object]
) -> Iterator[Hazard]:
    failed = [node for node in managed if states[metadata.name(node)] == _FAILED]
    if failed:
        cause = f"the upgrade of the {driver.title} has failed ({driver.state}={_FAILED})"
        remedy = "Read the log of the driver's pod there, remove the cause, and delete the pod: a new one tries again."
        yield Hazard(_STUCK, place(nodes.named(failed)), cause, remedy, _SOURCE)
    required = [node for node in managed if states[metadata.name(node)] == _REQUIRED]
    if not required:
        return
    skipped = [node for node in required if metadata.labels(node).get(driver.skip) == "true"]
    if skipped:
        cause = f"the {driver.title} is to be upgraded, and label {driver.skip}=true keeps its operator away"
        yield Hazard(_STUCK, place(nodes.named(skipped)), cause, "Remove the label.", _SOURCE)
    required = [node for node in required if node not in skipped]
    if required and (why := _held_up(driver, managed, states, policies)):
        cause, remedy = why
        yield Hazard(_STUCK, place(nodes.named(required)), cause, remedy, _SOURCE)


def _held_up(
    driver: _Driver, managed: Sequence[Object], states: Mapping[str, str], policies: Sequence[Object]
) -> tuple[str, str] | None:
    """Return why no upgrade begins, and the remedy; None where one is under way, and the others wait for it."""
    if not any(read(policy, "autoUpgrade") is True for policy in policies):
        return (
            f"the {driver.title} is to be upgraded, and nothing does it: no policy of it has autoUpgrade true",
            "Set `auto_upgrade: true` of the driver, or drain each node and delete its driver's pod.",
        )
    if any(states[metadata.name(node)] not in _IDLE for node in managed):
        return None
    away = [node for node in managed if read(node, "spec", "unschedulable") is True or not _ready(node)]
    most = max((_scaled(read(policy, "maxUnavailable"), len(managed)) for policy in policies), default=0)
    if away and len(away) >= most:
        return (
            f"the {driver.title} is to be upgraded, and none begins while {len(away)} of {len(managed)} nodes are "
            f"cordoned or not ready and maxUnavailable allows {most}: {enumerated(nodes.named(away))}",
            "Uncordon those that are well (`oc adm uncordon`), or raise maxUnavailable.",
        )
    return None


def _scaled(limit: object, total: int) -> int:
    """Return maxUnavailable as a number of nodes, shares rounded up; 0 where it is none."""
    text = str(_DEFAULT if limit is None else limit)
    try:
        return math.ceil(int(text.removesuffix("%")) * total / 100) if text.endswith("%") else int(text)
    except ValueError:
        return 0


def _ready(node: Object) -> bool:
    return nodes.condition(node, "Ready") is not None


def _paused(listed: Sequence[Object]) -> Iterator[Hazard]:
    """Yield nodes whose operands stay away although no upgrade is under way there."""
    left: dict[str, list[str]] = {}
    for node in listed:
        labels = metadata.labels(node)
        if labels.get(_DRIVERS[0].state, "") in ("", _DONE):
            for label in sorted(labels):
                if label.startswith(names.GPU_DEPLOY) and labels[label] == _AWAY:
                    left.setdefault(metadata.name(node), []).append(label)
    if left:
        labels_ = sorted({label for of_node in left.values() for label in of_node})
        cause = f"operands are gone: {enumerated(labels_, 3)} is {_AWAY}, and no upgrade is under way"
        command = f"`oc label node {min(left)} --overwrite {labels_[0]}=true`"
        remedy = f"If the driver's pod there is ready, set the labels to true, e.g. {command}."
        yield Hazard(_PAUSED, place(left), cause, remedy, _PAUSED_SOURCE)
