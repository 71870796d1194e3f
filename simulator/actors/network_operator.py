"""NVIDIA's network operator: the one NicClusterPolicy, and networks that pods can join."""

from itertools import chain

from apis import kinds
from apis.kinds import Kind
from simulator.actors import images, network_operands, pods
from simulator.actors.api import ApiError, Object
from simulator.actors.informer import Informer, Key
from simulator.actors.mofed import ADAPTER, WAIT
from simulator.actors.network_operands import DRIVER, STATES
from simulator.actors.podactor import HERE, Operator, nodes_where, ready

NAME = "nic-cluster-policy"
NETWORKS = (kinds.MACVLAN_NETWORK, kinds.HOST_DEVICE_NETWORK)
LATER = 1.0
"""Seconds after which a network whose namespace is not there is tried again."""


class NetworkOperator(Operator):
    """Acts on the NicClusterPolicy of its name, and on every MacvlanNetwork and HostDeviceNetwork."""

    kind = kinds.NIC_CLUSTER_POLICY
    watched = ((kind, None), (kinds.NODE, None), (kinds.DAEMON_SET, HERE))
    _networks: dict[Kind, Informer]

    def start(self) -> None:
        """Watch custom resources, nodes and the DaemonSets of this namespace."""
        super().start()
        networks = self.loop(self._network)
        self._networks = {
            kind: Informer(self.api, kind, lambda key, *_, kind=kind: networks.add((kind.kind, key[1])))
            for kind in NETWORKS
        }
        for informer in self._networks.values():
            self._running.append(informer.start())
        # The driver's pods are DaemonSet pods, whose readiness the DaemonSet's status has for all nodes together.
        self.runtime.pods.on_change(lambda *changed: self._pod_changed(*changed[1:]))

    def _pod_changed(self, old: Object | None, pod: Object | None) -> None:
        some = pod or old
        if some is not None and not self.stopped.is_set() and _is_driver(some):
            self.wake()

    def reconcile(self) -> None:
        """Label the nodes, and reconcile what the policy asks for."""
        there = {one["metadata"]["name"]: one for one in self.there(self.kind)}
        policy = there.pop(NAME, None)
        for other in there.values():
            reason = f"Unsupported NicClusterPolicy instance {other['metadata']['name']}. Only {NAME} is supported"
            self.api.set_status(self.kind, other, {"state": "ignore", "reason": reason})
        self._label(policy)
        if policy:
            self._install(policy)

    def _label(self, policy: Object | None) -> None:
        """Label every node that has an adapter with whether others must wait for the driver there."""
        drivers = nodes_where(self.runtime, images.ADAPTER_DRIVERS)
        wanted = policy is not None and bool(policy["spec"].get(DRIVER.field))
        for node in self.caches[kinds.NODE].items():
            name = node["metadata"]["name"]
            value = waits(node, policy, wanted=wanted, ready=name in drivers)
            if pods.labels(node).get(WAIT) != value:
                self.api.patch(kinds.NODE, name, {"metadata": {"labels": {WAIT: value}}})

    def _install(self, policy: Object) -> None:
        spec = policy["spec"]
        requested = [state for state in STATES if spec.get(state.field)]
        sets = {state.name: self.own(kinds.DAEMON_SET, state.daemon_set) for state in requested}
        for state in STATES:
            if state not in requested and self.own(kinds.DAEMON_SET, state.daemon_set):
                self.api.delete(kinds.DAEMON_SET, state.daemon_set, self.namespace)
        made = (state.manifests(self.namespace, spec) for state in requested)
        self.settle(policy, lambda: chain.from_iterable(made), missing=None in sets.values())
        self.api.set_status(self.kind, policy, status(sets))

    def _network(self, key: Key) -> float | None:
        kind = next(each for each in NETWORKS if each.kind == key[0])
        resource = self._networks[kind].get(key[1])
        if resource is None or pods.deleting(resource):
            return None
        try:
            made = network_operands.network(resource)
            self.make([made], resource)
        except ValueError as error:
            self.api.set_status(kind, resource, {"state": "error", "reason": f"ipam: {error}"})
            return None
        except ApiError as error:
            if not error.missing:
                raise
            self.api.set_status(kind, resource, {"state": "notReady", "reason": error.message})
            return LATER
        meta = made[1]["metadata"]
        where = f"/apis/{made[0].api_version}/namespaces/{meta['namespace']}/{made[0].plural}/{meta['name']}"
        field = "macvlanNetworkAttachmentDef" if kind == kinds.MACVLAN_NETWORK else "hostDeviceNetworkAttachmentDef"
        self.api.set_status(kind, resource, {"state": "ready", "reason": "", field: where})
        return None


def _is_driver(pod: Object) -> bool:
    return pods.basename(pods.image(pod)) in images.ADAPTER_DRIVERS


def waits(node: Object, policy: Object | None, *, wanted: bool, ready: bool) -> str | None:
    """Return the value of the label `mofed.wait` of a node, None where it has none.

    `wanted`: the policy asks for a driver; `ready`: it runs on this node.
    """
    if policy is None or pods.labels(node).get(ADAPTER) != "true":
        return None
    return str(wanted and not ready).lower()


def status(sets: dict[str, Object | None]) -> Object:
    """Return the status of a policy whose states have these DaemonSets; states that it does not ask for are ignored."""
    states = {state.name: _state(sets, state.name) for state in STATES}
    whole = "notReady" if "notReady" in states.values() else "ready"
    return {"state": whole, "appliedStates": [{"name": name, "state": state} for name, state in states.items()]}


def _state(sets: dict[str, Object | None], name: str) -> str:
    if name not in sets:
        return "ignore"
    return "ready" if ready([sets[name]]) else "notReady"
