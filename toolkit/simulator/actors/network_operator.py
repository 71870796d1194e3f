"""NVIDIA's network operator: the one NicClusterPolicy, NicNodePolicies, and networks that pods can join."""

from collections.abc import Sequence
from itertools import chain

from core.apis import kinds
from core.apis.kinds import Kind
from core.apis.names import MELLANOX_ADAPTER, OFED_WAIT
from toolkit.simulator import pods
from toolkit.simulator.actors import images, network_operands
from toolkit.simulator.actors.api import ApiError, Object
from toolkit.simulator.actors.informer import Informer, Key
from toolkit.simulator.actors.network_operands import DRIVER, STATES, State
from toolkit.simulator.actors.podactor import HERE, Operator, nodes_where, ready

NAME = "nic-cluster-policy"
NETWORKS = (kinds.MACVLAN_NETWORK, kinds.HOST_DEVICE_NETWORK)
LATER = 1.0
"""Seconds after which a network whose namespace is not there is tried again."""


def selects(policy: Object, node: Object) -> bool:
    """Return whether a policy is for a node; one without a selector is for all."""
    labels = pods.labels(node)
    return all(labels.get(key) == value for key, value in (policy["spec"].get("nodeSelector") or {}).items())


def refusals(cluster: Object | None, policies: Sequence[Object], nodes: Sequence[Object]) -> dict[str, str]:
    """Return the names of NicNodePolicies that the operator does not act on, each with the reason.

    While any node is selected by two of them, all are in error and nothing is changed. A part may be in NicNodePolicies
    or in the NicClusterPolicy: the real operator's webhook refuses the later of the two; here the former is in error.
    Source: Mellanox/network-operator, docs/heterogeneous-cluster-support.md, controllers/nicnodepolicy_controller.go
    and pkg/policyoverlap.
    """
    overlaps = []
    for node in nodes if len(policies) > 1 else ():
        names = sorted(_name(policy) for policy in policies if selects(policy, node))
        if len(names) > 1:
            overlaps.append(f'node "{_name(node)}" is selected by policies: [{", ".join(names)}]')
    if overlaps:
        reason = f"node selector overlap detected: {'; '.join(sorted(overlaps))}"
        return {_name(policy): reason for policy in policies}
    return {_name(policy): reason for policy in policies if (reason := _duplicates(cluster, policy))}


def _duplicates(cluster: Object | None, policy: Object) -> str:
    fields = [state.field for state in STATES if cluster and cluster["spec"].get(state.field)]
    return "; ".join(
        f'NicClusterPolicy already defines {field}; NicNodePolicy "{_name(policy)}" cannot also define it'
        for field in fields
        if policy["spec"].get(field)
    )


def _name(obj: Object) -> str:
    return str(obj["metadata"]["name"])


class NetworkOperator(Operator):
    """Acts on the NicClusterPolicy of its name, and on every NicNodePolicy, MacvlanNetwork and HostDeviceNetwork."""

    kind = kinds.NIC_CLUSTER_POLICY
    watched = ((kind, None), (kinds.NIC_NODE_POLICY, None), (kinds.NODE, None), (kinds.DAEMON_SET, HERE))
    _networks: dict[Kind, Informer]

    def start(self) -> None:
        """Watch custom resources, nodes and the DaemonSets of this namespace, with no policy applied yet."""
        self._applied: dict[str, int] = {}
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
        version = pod or old
        is_driver = version is not None and pods.basename(pods.image(version)) in images.ADAPTER_DRIVERS
        if is_driver and not self.stopped.is_set():
            self.wake()

    def reconcile(self) -> None:
        """Label the nodes, and reconcile what the policies ask for."""
        policies = {resource["metadata"]["name"]: resource for resource in self.objects(self.kind)}
        policy = policies.pop(NAME, None)
        for other in policies.values():
            reason = f"Unsupported NicClusterPolicy instance {other['metadata']['name']}. Only {NAME} is supported"
            self.api.set_status(self.kind, other, {"state": "ignore", "reason": reason})
        of_pools = self.objects(kinds.NIC_NODE_POLICY)
        nodes = list(self.caches[kinds.NODE].items())
        self._label(nodes, policy, of_pools)
        if policy:
            self.api.set_status(self.kind, policy, status(self._install(policy, STATES)))
        wrong = refusals(policy, of_pools, nodes)
        for node_policy in of_pools:
            name = node_policy["metadata"]["name"]
            if name in wrong:
                self.api.set_status(kinds.NIC_NODE_POLICY, node_policy, {"state": "error", "reason": wrong[name]})
                continue
            sets = self._install(node_policy, [state.of_pool(name) for state in STATES])
            self.api.set_status(kinds.NIC_NODE_POLICY, node_policy, status(sets) | {"reason": ""})

    def _label(self, nodes: Sequence[Object], policy: Object | None, of_pools: Sequence[Object]) -> None:
        """Label every node that has an adapter with whether others must wait for the driver there."""
        drivers = nodes_where(self.runtime, images.ADAPTER_DRIVERS)
        with_driver = policy is not None and bool(policy["spec"].get(DRIVER.field))
        driving = [node_policy for node_policy in of_pools if node_policy["spec"].get(DRIVER.field)]
        for node in nodes:
            name = node["metadata"]["name"]
            own = next((node_policy for node_policy in driving if selects(node_policy, node)), None)
            value = waits(node, own or policy, driver=with_driver or own is not None, ready=name in drivers)
            if pods.labels(node).get(OFED_WAIT) != value:
                self.api.patch(kinds.NODE, name, {"metadata": {"labels": {OFED_WAIT: value}}})

    def _install(self, policy: Object, states: Sequence[State]) -> dict[str, Object | None]:
        """Make what a policy asks for, if it has changed since or is gone; return the DaemonSets of its states."""
        spec, meta = policy["spec"], policy["metadata"]
        requested = [state for state in states if spec.get(state.field)]
        sets = {state.name: self.own(kinds.DAEMON_SET, state.daemon_set) for state in requested}
        for state in states:
            if state not in requested and self.own(kinds.DAEMON_SET, state.daemon_set):
                self.api.delete(kinds.DAEMON_SET, state.daemon_set, self.namespace)
        if None in sets.values() or self._applied.get(meta["uid"]) != meta["generation"]:
            self.make(chain.from_iterable(state.manifests(self.namespace, spec) for state in requested), policy)
            self._applied[meta["uid"]] = meta["generation"]
        return sets

    def _network(self, key: Key) -> float | None:
        kind = next(network for network in NETWORKS if network.kind == key[0])
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


def waits(node: Object, policy: Object | None, *, driver: bool, ready: bool) -> str | None:
    """Return the value of the label `mofed.wait` of a node, None where it has none.

    `driver`: the policy asks for a driver; `ready`: it runs on this node.
    """
    if policy is None or pods.labels(node).get(MELLANOX_ADAPTER) != "true":
        return None
    return str(driver and not ready).lower()


def status(sets: dict[str, Object | None]) -> Object:
    """Return the status of a policy whose states have these DaemonSets; states that it does not ask for are ignored."""
    states = {state.name: _state(sets, state.name) for state in STATES}
    whole = "notReady" if "notReady" in states.values() else "ready"
    return {"state": whole, "appliedStates": [{"name": name, "state": state} for name, state in states.items()]}


def _state(sets: dict[str, Object | None], name: str) -> str:
    if name not in sets:
        return "ignore"
    return "ready" if ready([sets[name]]) else "notReady"
