"""Pools that run containers with runc, which OpenShift 5.0 no longer has.

A cluster that was updated from 4.17 keeps runc by a MachineConfig of its own for each of its pools, below those of
ContainerRuntimeConfigs; `status.configuration.source` of a pool lists what it is made of.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from core.apis import kinds
from policies.manifests.values import entries, read, selects_some
from stacks.settings.platform import Settings
from toolkit.cli.shared import metadata
from toolkit.cli.shared.hazards.hazard import Hazard
from toolkit.cli.shared.hazards.live import Live

Object = Mapping[str, Any]
_OVERRIDE = ("00-override-", "-generated-crio-default-container-runtime")
_RUNC = "runc"
_SOURCE = "release notes of OpenShift 4.18, crun as the default; openshift/machine-config-operator; 5.0 has no runc"


def hazards(_: Settings, live: Live) -> Iterator[Hazard]:
    """Yield each pool that runs runc, with what makes it."""
    pools = live.list(kinds.MACHINE_CONFIG_POOL)
    if not pools:
        return  # a hosted control plane
    configs = live.needed(kinds.CONTAINER_RUNTIME_CONFIG)
    for pool in pools:
        chosen = [config for config in configs if _runtime(config) and _selects(config, pool)]
        name = metadata.name(pool)
        if runc := [config for config in chosen if _runtime(config) == _RUNC]:
            by = f"ContainerRuntimeConfig {metadata.name(runc[0])} sets defaultRuntime: {_RUNC}"
            remedy = f"Set defaultRuntime: crun in it before OpenShift 5.0; the nodes of pool {name} restart."
            yield _hazard(name, by, remedy)
        elif not chosen and (override := _override(pool)):
            by = f"MachineConfig {override} keeps {_RUNC}, as before OpenShift 4.18"
            remedy = f"Delete it before OpenShift 5.0 (`oc delete machineconfig {override}`): the pool runs crun, and "
            yield _hazard(name, by, f"{remedy}its nodes restart.")


def _hazard(pool: str, by: str, remedy: str) -> Hazard:
    return Hazard("runc", f"MachineConfigPool {pool}", by, remedy, _SOURCE)


def _runtime(config: Object) -> str:
    return str(read(config, "spec", "containerRuntimeConfig", "defaultRuntime") or "")


def _selects(config: Object, pool: Object) -> bool:
    return selects_some(read(config, "spec", "machineConfigPoolSelector"), metadata.labels(pool))


def _override(pool: Object) -> str:
    """Return the MachineConfig by which a pool keeps runc; empty where it has none."""
    names: Sequence[str] = [str(read(entry, "name")) for entry in entries(pool, "status", "configuration", "source")]
    start, end = _OVERRIDE
    return next((name for name in names if name.startswith(start) and name.endswith(end)), "")
