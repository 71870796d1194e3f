"""Kubelet-config controller: of every KubeletConfig a MachineConfig for each pool that it selects.

What it takes is checked little, as in the field: a wrong value fails on the node (`kubelet_settings.refusal`).
"""

import json
import logging
from urllib.parse import quote

from core.apis import kinds
from core.apis.names import MACHINE_CONFIG_ROLE
from policies.manifests.values import selects
from toolkit.simulator import pods
from toolkit.simulator.actors import kubelet_settings
from toolkit.simulator.actors.api import Object, stated
from toolkit.simulator.actors.informer import Informer, Key, Loop
from toolkit.simulator.actors.runtime import Runtime
from toolkit.simulator.manifests import manifest, owner_reference, simulated_by

log = logging.getLogger(__name__)

_EVERY: Key = ("", "")


def name_of(pool: str, index: int) -> str:
    """Return the MachineConfig of a pool's KubeletConfig; only the first one has no number."""
    return f"99-{pool}-generated-kubelet" + (f"-{index}" if index else "")


def machine_config(pool: str, index: int, owner: Object) -> Object:
    """Return the MachineConfig by which the pool's kubelets get their configuration."""
    fields = {"apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration"}
    text = json.dumps({**fields, **(owner["spec"].get("kubeletConfig") or {})}, sort_keys=True)
    file = {
        "path": kubelet_settings.PATH,
        "mode": 0o644,
        "overwrite": True,
        "contents": {"source": "data:text/plain," + quote(text)},
    }
    return manifest(
        kinds.MACHINE_CONFIG,
        name_of(pool, index),
        labels={MACHINE_CONFIG_ROLE: pool},
        annotations=simulated_by("kubelet-config controller"),
        owners=[owner_reference(owner)],
        spec={"config": {"ignition": {"version": "3.2.0"}, "storage": {"files": [file]}}},
    )


class KubeletConfigs:
    """Works with the account of the machine-config controller, whose part this controller is."""

    def __init__(self, runtime: Runtime) -> None:
        self._api = runtime.identity("machine-config")
        self._loop = Loop("kubelet configs", self._reconcile)
        self._configs, self._pools, self._generated = (
            Informer(self._api, kind, lambda *_: self._loop.add(_EVERY), listed=lambda: self._loop.add(_EVERY))
            for kind in (kinds.KUBELET_CONFIG, kinds.MACHINE_CONFIG_POOL, kinds.MACHINE_CONFIG)
        )
        self._applied: dict[str, Object] = {}

    def start(self) -> None:
        """Start."""
        for cache in (self._configs, self._pools, self._generated):
            cache.start()
        self._loop.start()

    def _reconcile(self, _key: Key) -> None:
        if not (self._configs.synced and self._pools.synced and self._generated.synced):
            return  # the last list to come wakes it
        configs = [config for config in self._configs.items() if not pods.deleting(config)]
        configs.sort(key=lambda config: (config["metadata"]["creationTimestamp"], config["metadata"]["name"]))
        taken: dict[str, int] = {}
        for config in configs:
            self._reconcile_config(config, taken)
        self._remove_orphans({config["metadata"]["uid"] for config in configs})

    def _remove_orphans(self, alive: set[str]) -> None:
        """Take MachineConfigs along with their KubeletConfig; the garbage collector may take half a minute."""
        for made in self._generated.items():
            owners = [
                reference
                for reference in made["metadata"].get("ownerReferences") or []
                if reference["kind"] == "KubeletConfig"
            ]
            if owners and owners[0]["uid"] not in alive and not pods.deleting(made):
                self._applied.pop(made["metadata"]["name"], None)
                self._api.delete(kinds.MACHINE_CONFIG, made["metadata"]["name"])

    def _reconcile_config(self, config: Object, taken: dict[str, int]) -> None:
        selector = config["spec"].get("machineConfigPoolSelector")
        pools = [
            str(pool["metadata"]["name"])
            for pool in self._pools.items()
            if selector and selects(selector, pods.labels(pool))
        ]
        trouble = kubelet_settings.refused_by_controller(config["spec"].get("kubeletConfig") or {})
        if not pools:
            name = config["metadata"]["name"]
            trouble = f"Error: could not find any MachineConfigPool set for KubeletConfig {name}"
        for pool in () if trouble else sorted(pools):
            index = taken.get(pool, 0)
            taken[pool] = index + 1
            body = machine_config(pool, index, config)
            name = body["metadata"]["name"]
            if self._applied.get(name) != body or self._generated.get(name) is None:
                self._api.apply(kinds.MACHINE_CONFIG, body)
                self._applied[name] = body
                log.info("%s for pool %s", name, pool)
        self._set_condition(config, trouble)

    def _set_condition(self, config: Object, trouble: str | None) -> None:
        """Report the result; only the latest condition is stored, so that no one who waits takes an old one for it."""
        kind = "Failure" if trouble else "Success"
        kept = [
            condition for condition in (config.get("status") or {}).get("conditions") or [] if condition["type"] == kind
        ]
        conditions = stated({"status": {"conditions": kept}}, {kind: ("True", "", trouble or "Success")})
        status = {"observedGeneration": config["metadata"]["generation"], "conditions": conditions}
        self._api.set_status(kinds.KUBELET_CONFIG, config, status)
