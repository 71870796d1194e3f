"""Machine-config controller and daemon: MachineConfigs become a rendered one, which nodes take one after another."""

import logging

from core.apis import kinds
from policies.manifests.values import selects
from toolkit.simulator import pods
from toolkit.simulator.actors import ignition, machine_pools
from toolkit.simulator.actors.api import EVICTION, ApiError, Object
from toolkit.simulator.actors.informer import Informer, Key, Loop
from toolkit.simulator.actors.machine_pools import CURRENT, DEGRADED, DESIRED, FINISHED, PREFIX, REASON, STATE, WORKING
from toolkit.simulator.actors.runtime import Runtime
from toolkit.simulator.manifests import manifest, simulated_by

log = logging.getLogger(__name__)

RENDERED = "rendered-"
REBOOT_SECONDS = 0.2
"""A real reboot takes minutes; this only makes the order visible."""
DRAIN_CHECK_SECONDS = 1.0
TEMPLATES = ("", "")
"""Key under which the configurations that a cluster comes with are made."""


class MachineConfigs:
    """Works on one pool at a time, with the account of the controller."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._api = runtime.identity("machine-config")
        self._loop = Loop("machine config", self._reconcile, threads=2)
        self._configs = Informer(self._api, kinds.MACHINE_CONFIG, lambda *_: self._wake(), listed=self._begin)
        self._pools = Informer(self._api, kinds.MACHINE_CONFIG_POOL, lambda *_: self._wake(), listed=self._begin)
        self._nodes = Informer(self._api, kinds.NODE, lambda *_: self._wake(), listed=self._begin)

    def start(self) -> None:
        """Start; the runtime's caches must be in."""
        for cache in (self._configs, self._pools, self._nodes):
            cache.start()
        self._loop.start()
        self._runtime.pods.on_change(lambda _key, _old, pod: None if pod else self._wake())

    def _begin(self) -> None:
        self._loop.add(TEMPLATES)

    def _wake(self) -> None:
        for pool in self._pools.items():
            self._loop.add(("", pool["metadata"]["name"]))

    def _reconcile(self, key: Key) -> float | None:
        if not (self._configs.synced and self._pools.synced and self._nodes.synced):
            return None  # the last list to come wakes it
        if key == TEMPLATES:
            self._make_templates()
            self._wake()
            return None
        pool = self._pools.get(key[1])
        if pool is None or pods.deleting(pool):
            return None
        configs = self._members(pool)
        if not configs:
            return None
        target = self._rendered(key[1], configs)
        configuration = {"name": target["metadata"]["name"], "source": ignition.sources(configs)}
        if (pool["spec"].get("configuration") or {}) != configuration:
            # First the pool says what is to come: who waits for it would else see the state before, and go on.
            self._api.patch(kinds.MACHINE_CONFIG_POOL, key[1], {"spec": {"configuration": configuration}})
            return None
        again = self._roll_out(pool, target)
        status = machine_pools.status(pool, self._of_pool(pool), configuration)
        self._api.set_status(kinds.MACHINE_CONFIG_POOL, pool, status)
        return again

    def _make_templates(self) -> None:
        """Make the configuration that a cluster comes with: one MachineConfig per role, of nothing."""
        for role in machine_pools.ROLES:
            if self._configs.get(f"00-{role}") is None:
                body = manifest(
                    kinds.MACHINE_CONFIG,
                    f"00-{role}",
                    labels={PREFIX + "role": role},
                    annotations=simulated_by("machine-config controller"),
                    spec={"config": {"ignition": {"version": "2.2.0"}}},
                )
                self._api.apply(kinds.MACHINE_CONFIG, body)

    def _members(self, pool: Object) -> list[Object]:
        selector = pool["spec"].get("machineConfigSelector")
        return [
            config
            for config in self._configs.items()
            if not config["metadata"]["name"].startswith(RENDERED)
            and not pods.deleting(config)
            and selects(selector or {}, pods.labels(config))
        ]

    def _rendered(self, pool: str, configs: list[Object]) -> Object:
        target = ignition.render(pool, configs)
        if self._configs.get(target["metadata"]["name"]) is None:
            self._api.apply(kinds.MACHINE_CONFIG, target)
            log.info("pool %s: %s", pool, target["metadata"]["name"])
        return target

    def _of_pool(self, pool: Object) -> list[Object]:
        return machine_pools.members(pool, self._pools.items(), self._nodes.items())

    def _roll_out(self, pool: Object, target: Object) -> float | None:
        """Take the next nodes a step on; a new node starts with the configuration, without a drain."""
        name = target["metadata"]["name"]
        nodes = self._of_pool(pool)
        for node in nodes:
            if machine_pools.has(node, name):
                self._set_allocatable(node, target)
        late = [node for node in nodes if not machine_pools.has(node, name)]
        for node in late:
            if CURRENT not in pods.annotations(node):
                self._annotate(node, target)
        late = [node for node in late if CURRENT in pods.annotations(node)]
        if not late:
            return None
        late.sort(key=lambda node: pods.annotations(node).get(STATE) not in {WORKING, DEGRADED})
        # So many may be away at a time; one that does not come back with that configuration stays among them.
        away = [node for node in late[: machine_pools.at_once(pool, len(nodes))] if not machine_pools.stuck(node, name)]
        if not away:
            return None
        empty = [node for node in away if not self._evacuate(node, name)]
        if empty:
            self._runtime.pause(REBOOT_SECONDS)
        for node in empty:
            self._reboot(node, target)
        return DRAIN_CHECK_SECONDS if len(empty) < len(away) else 0.05

    def _evacuate(self, node: Object, target: str) -> bool:
        """Take a node out of service, and its pods away; return whether that still goes on."""
        marks = pods.annotations(node)
        if marks.get(STATE) == WORKING and marks.get(DESIRED) == target:
            return self._drain(node["metadata"]["name"])
        mark = {"annotations": {DESIRED: target, STATE: WORKING, REASON: None}}
        self._api.patch(kinds.NODE, node["metadata"]["name"], {"metadata": mark, "spec": {"unschedulable": True}})
        return True

    def _drain(self, node: str) -> bool:
        """Evict what a drain evicts; return whether something is still there."""
        evictable = [
            pod
            for pod in self._runtime.pods.items()
            if pods.node_name(pod) == node
            and pods.owner_kind(pod) not in {"DaemonSet", "Node"}
            and pods.phase(pod) in {"Pending", "Running"}
        ]
        for pod in evictable:
            meta = pod["metadata"]
            if pods.deleting(pod):
                continue
            eviction = manifest(EVICTION, meta["name"], meta["namespace"])
            try:
                self._api.create(kinds.POD, eviction, meta["namespace"], name=meta["name"], sub="eviction")
            except ApiError as error:
                # A namespace that is being deleted takes no evictions and takes its pods along.
                if not (error.missing or "is being terminated" in error.message):
                    raise
        return bool(evictable)

    def _reboot(self, node: Object, target: Object) -> None:
        """Let a node come back with the configuration."""
        if why := machine_pools.refusal(node, self._runtime.profile(node), target):
            mark = {STATE: DEGRADED, REASON: why}
            self._api.annotate(kinds.NODE, node["metadata"]["name"], dict(mark))
            log.warning("%s does not come back: %s", node["metadata"]["name"], why)
            return
        self._annotate(node, target)
        log.info("%s has %s", node["metadata"]["name"], target["metadata"]["name"])

    def _annotate(self, node: Object, target: Object) -> None:
        name = target["metadata"]["name"]
        mark = {CURRENT: name, DESIRED: name, STATE: FINISHED, REASON: None}
        mark |= machine_pools.annotations(self._runtime.profile(node), target)
        self._set_allocatable(node, target)
        body: Object = {"metadata": {"annotations": mark}}
        if node.get("spec", {}).get("unschedulable"):
            body["spec"] = {"unschedulable": None}
        self._api.patch(kinds.NODE, node["metadata"]["name"], body)

    def _set_allocatable(self, node: Object, target: Object) -> None:
        """Report what the node's kubelet leaves for pods."""
        if patch := machine_pools.allocatable_patch(node, target):
            self._runtime.kubelet.patch(kinds.NODE, node["metadata"]["name"], patch, sub="status")
