"""DOCA drivers that are known not to build for the kernel of an OpenShift release."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from core.apis import kinds
from policies.manifests.values import read
from stacks.settings.platform import Settings
from toolkit.cli.shared import metadata
from toolkit.cli.shared.hazards import versions
from toolkit.cli.shared.hazards.hazard import Hazard
from toolkit.cli.shared.hazards.live import Live

Object = Mapping[str, Any]


@dataclass(frozen=True)
class _Build:
    """A driver, and the releases for whose kernel it does not build: from the first one, within its minor release."""

    driver: str
    first: str
    works: str
    source: str


_FAILING = (
    _Build(
        "doca3.3.0-26.01-1.0.0.0-0",
        "4.21.9",
        "doca3.2.2-25.10-2.4.1.0-4 or doca3.4.0-26.04 and later",
        "github.com/Mellanox/network-operator/issues/2471; access.redhat.com/solutions/7141156",
    ),
)


def hazards(_: Settings, live: Live) -> Iterator[Hazard]:
    """Yield policies whose driver does not build for what the cluster runs."""
    policies = [
        (kind, policy)
        for kind in (kinds.NIC_CLUSTER_POLICY, kinds.NIC_NODE_POLICY)
        for policy in live.list(kind)
        if read(policy, "spec", "ofedDriver", "version")
    ]
    running = versions.of_cluster(live) if policies else None
    for kind, policy in policies:
        driver = str(read(policy, "spec", "ofedDriver", "version"))
        for build in _FAILING:
            first = versions.parsed(build.first)
            if running and first and driver == build.driver and running[:2] == first[:2] and running >= first:
                text = versions.shown(running)
                cause = f"{driver} does not build for the kernel of OpenShift {build.first}, and the cluster has {text}"
                remedy = f"Use {build.works}; which later {versions.shown(first[:2])} builds it again is not published."
                yield Hazard("doca-build", f"{kind.kind} {metadata.name(policy)}", cause, remedy, build.source)
