"""Machine-config controller and daemon: MachineConfigs become a rendered one, which nodes take one after another."""

import logging

from apis import kinds
from simulator.actors import ignition, machine_state, pods
from simulator.actors.api import ApiError, Object
from simulator.actors.conditions import same_status, stated
from simulator.actors.informer import Informer, Key, Loop
from simulator.actors.podactor import played
from simulator.actors.runtime import Runtime

log = logging.getLogger(__name__)

PREFIX = "machineconfiguration.openshift.io/"
CURRENT, DESIRED, STATE = PREFIX + "currentConfig", PREFIX + "desiredConfig", PREFIX + "state"
REASON = PREFIX + "reason"
WORKING, FINISHED, DEGRADED = "Working", "Done", "Degraded"
RENDERED = "rendered-"
REBOOT_SECONDS = 0.2
"""A real reboot takes minutes; this only makes the order visible."""
DRAIN_CHECK_SECONDS = 1.0
ROLES = ("master", "worker")
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
        again = self._roll_out(pool, target)
        self._show(pool, target, configs)
        return again

    def _make_templates(self) -> None:
        """Make the configuration that a cluster comes with: one MachineConfig per role, of nothing."""
        for role in ROLES:
            body = {
                "apiVersion": kinds.MACHINE_CONFIG.api_version,
                "kind": kinds.MACHINE_CONFIG.kind,
                "metadata": {
                    "name": f"00-{role}",
                    "labels": {PREFIX + "role": role},
                    "annotations": played("machine-config controller"),
                },
                "spec": {"config": {"ignition": {"version": "2.2.0"}}},
            }
            if self._configs.get(f"00-{role}") is None:
                self._api.apply(kinds.MACHINE_CONFIG, body)

    def _members(self, pool: Object) -> list[Object]:
        selector = pool["spec"].get("machineConfigSelector")
        return [
            config
            for config in self._configs.items()
            if not config["metadata"]["name"].startswith(RENDERED)
            and not pods.deleting(config)
            and ignition.selected(selector, pods.labels(config))
        ]

    def _rendered(self, pool: str, configs: list[Object]) -> Object:
        target = ignition.render(pool, configs)
        if self._configs.get(target["metadata"]["name"]) is None:
            self._api.apply(kinds.MACHINE_CONFIG, target)
            log.info("pool %s: %s", pool, target["metadata"]["name"])
        return target

    def _of_pool(self, pool: Object) -> list[Object]:
        """Return the pool's nodes by name: a master is the master pool's, and a custom pool goes before `worker`."""
        name = pool["metadata"]["name"]
        return sorted(
            (node for node in self._nodes.items() if self._pool_of(node) == name),
            key=lambda node: str(node["metadata"]["name"]),
        )

    def _pool_of(self, node: Object) -> str | None:
        """Return the pool that a node is in."""
        fitting = [
            str(pool["metadata"]["name"])
            for pool in self._pools.items()
            if ignition.selected(pool["spec"].get("nodeSelector"), pods.labels(node))
        ]
        custom = sorted(name for name in fitting if name not in ROLES)
        order = [name for name in (ROLES[0], *custom, ROLES[1]) if name in fitting]
        return order[0] if order else None

    def _roll_out(self, pool: Object, target: Object) -> float | None:
        """Take the next nodes a step on; a new node starts with the configuration, without a drain."""
        name = target["metadata"]["name"]
        nodes = self._of_pool(pool)
        for node in nodes:
            if _has(node, name):
                self._share_out(node, target)
        late = [node for node in nodes if not _has(node, name)]
        for node in late:
            if CURRENT not in pods.annotations(node):
                self._annotate(node, target)
        late = [node for node in late if CURRENT in pods.annotations(node)]
        if not late:
            return None
        late.sort(key=lambda one: pods.annotations(one).get(STATE) not in {WORKING, DEGRADED})
        # So many may be away at a time; one that does not come back with that configuration stays among them.
        away = [node for node in late[: _at_once(pool, len(nodes))] if not _stuck(node, name)]
        if not away:
            return None
        empty = [node for node in away if not self._empties(node, name)]
        if empty:
            self._runtime.pause(REBOOT_SECONDS)
        for node in empty:
            self._reboot(node, target)
        return DRAIN_CHECK_SECONDS if len(empty) < len(away) else 0.05

    def _empties(self, node: Object, target: str) -> bool:
        """Take a node out of service, and its pods away; return whether that still goes on."""
        said = pods.annotations(node)
        if said.get(STATE) == WORKING and said.get(DESIRED) == target:
            return self._drain(node["metadata"]["name"])
        mark = {"annotations": {DESIRED: target, STATE: WORKING, REASON: None}}
        self._api.patch(kinds.NODE, node["metadata"]["name"], {"metadata": mark, "spec": {"unschedulable": True}})
        return True

    def _drain(self, node: str) -> bool:
        """Evict what a drain evicts; return whether something is still there."""
        there = [
            pod
            for pod in self._runtime.pods.items()
            if pods.node_name(pod) == node
            and pods.owner_kind(pod) not in {"DaemonSet", "Node"}
            and pods.phase(pod) in {"Pending", "Running"}
        ]
        for pod in there:
            meta = pod["metadata"]
            if pods.deleting(pod):
                continue
            body = {"metadata": {"name": meta["name"], "namespace": meta["namespace"]}}
            eviction = {"apiVersion": "policy/v1", "kind": "Eviction", **body}
            try:
                self._api.create(kinds.POD, eviction, meta["namespace"], name=meta["name"], sub="eviction")
            except ApiError as error:
                # A namespace that is being deleted takes no evictions and takes its pods along.
                if not (error.missing or "is being terminated" in error.message):
                    raise
        return bool(there)

    def _reboot(self, node: Object, target: Object) -> None:
        """Let a node come back with the configuration."""
        if why := machine_state.refusal(node, self._runtime.profile(node), target):
            mark = {STATE: DEGRADED, REASON: why}
            self._api.annotate(kinds.NODE, node["metadata"]["name"], dict(mark))
            log.warning("%s does not come back: %s", node["metadata"]["name"], why)
            return
        self._annotate(node, target)
        log.info("%s has %s", node["metadata"]["name"], target["metadata"]["name"])

    def _annotate(self, node: Object, target: Object) -> None:
        name = target["metadata"]["name"]
        mark = {CURRENT: name, DESIRED: name, STATE: FINISHED, REASON: None}
        mark |= machine_state.annotations(self._runtime.profile(node), target)
        self._share_out(node, target)
        body: Object = {"metadata": {"annotations": mark}}
        if node.get("spec", {}).get("unschedulable"):
            body["spec"] = {"unschedulable": None}
        self._api.patch(kinds.NODE, node["metadata"]["name"], body)

    def _share_out(self, node: Object, target: Object) -> None:
        """Report what the node's kubelet leaves for pods."""
        if patch := machine_state.allocatable_patch(node, target):
            self._runtime.kubelet.patch(kinds.NODE, node["metadata"]["name"], patch, sub="status")

    def _show(self, pool: Object, target: Object, configs: list[Object]) -> None:
        """Write the pool's status: its configuration is the new one only when every node has it."""
        name, pool_name = target["metadata"]["name"], pool["metadata"]["name"]
        configuration = {"name": name, "source": ignition.sources(configs)}
        if (pool["spec"].get("configuration") or {}) != configuration:
            self._api.patch(kinds.MACHINE_CONFIG_POOL, pool_name, {"spec": {"configuration": configuration}})
            return
        nodes = self._of_pool(pool)
        done = sum(_has(node, name) for node in nodes)
        truth = done == len(nodes)
        stuck = [node for node in nodes if _stuck(node, name)]
        status: Object = {
            "observedGeneration": pool["metadata"]["generation"],
            "machineCount": len(nodes),
            "updatedMachineCount": done,
            "readyMachineCount": done,
            "unavailableMachineCount": len(nodes) - done,
            "degradedMachineCount": len(stuck),
            "conditions": stated(pool, _conditions(truth, stuck)),
        }
        if truth:
            status["configuration"] = configuration
        if not same_status(pool, status):
            self._api.patch(kinds.MACHINE_CONFIG_POOL, pool_name, {"status": status}, sub="status")


def _has(node: Object, config: str) -> bool:
    have = pods.annotations(node)
    return have.get(CURRENT) == config and have.get(STATE) == FINISHED


def _at_once(pool: Object, nodes: int) -> int:
    """Return how many nodes of a pool may be away at a time: one, or maxUnavailable as a number or a share."""
    said = str(pool["spec"].get("maxUnavailable") or 1)
    share = int(said.removesuffix("%"))
    return max(1, nodes * share // 100 if said.endswith("%") else share)


def _stuck(node: Object, config: str) -> bool:
    have = pods.annotations(node)
    return have.get(STATE) == DEGRADED and have.get(DESIRED) == config


def _conditions(updated: bool, stuck: list[Object]) -> dict[str, tuple[str, str, str]]:
    why = "".join(
        f'Node {node["metadata"]["name"]} is reporting: "{pods.annotations(node).get(REASON)}"' for node in stuck[:1]
    )
    nodes = f"{len(stuck)} nodes are reporting degraded status on sync" if stuck else ""
    return {
        "Updated": (str(updated), "", ""),
        "Updating": (str(not updated), "", ""),
        "Degraded": (str(bool(stuck)), nodes, why),
        "NodeDegraded": (str(bool(stuck)), nodes, why),
        "RenderDegraded": ("False", "", ""),
    }
