"""NMState: its operator, and the agents that carry out policies for a node's network, one node after another."""

import json

from core.apis import kinds
from policies.manifests.values import selects
from toolkit.simulator import names, pods
from toolkit.simulator.access import rbac
from toolkit.simulator.access.rbac import OWN, READ, Rule
from toolkit.simulator.actors import grants, images
from toolkit.simulator.actors.api import Object, stated
from toolkit.simulator.actors.informer import Informer, Key, Loop
from toolkit.simulator.actors.podactor import HERE, Operator, PodActor, nodes_where, ready
from toolkit.simulator.manifests import daemon_set, manifest, owner_reference, simulated_by

ENACTMENT = kinds.NODE_NETWORK_CONFIGURATION_ENACTMENT
NAME = "nmstate"
HANDLER = "nmstate-handler"
HANDLER_IMAGE = "registry.redhat.io/openshift4/ose-kubernetes-nmstate-handler-rhel9:v4.20"
POLICY_LABEL, NODE_LABEL = "nmstate.io/policy", "nmstate.io/node"
PHYSICAL = frozenset({"ethernet", "infiniband"})
"""Types of interfaces that a policy cannot make."""
HANDLER_RULES = (
    Rule(
        (kinds.NODE_NETWORK_CONFIGURATION_POLICY.group,),
        (kinds.NODE_NETWORK_CONFIGURATION_POLICY.plural, ENACTMENT.plural),
        OWN,
    ),
    Rule(
        (kinds.NODE_NETWORK_CONFIGURATION_POLICY.group,),
        (f"{kinds.NODE_NETWORK_CONFIGURATION_POLICY.plural}/status", f"{ENACTMENT.plural}/status"),
        ("get", "update", "patch"),
    ),
    Rule(("",), ("nodes", "pods"), READ),
)

SUCCESS, FAILURE, PROGRESS = "SuccessfullyConfigured", "FailedToConfigure", "ConfigurationProgressing"
_ABORTED, _NO_NODE = "ConfigurationAborted", "NoMatchingNode"
_STATES = ("Available", "Failing", "Progressing", "Pending", "Aborted")


class NmStateOperator(Operator):
    """For the NMState `nmstate`: the agents' account and DaemonSet. Other names are ignored."""

    watched = ((kinds.NMSTATE, None), (kinds.DAEMON_SET, HERE))

    def reconcile(self) -> None:
        """Reconcile the agents, or remove them with the object."""
        resource = self.caches[kinds.NMSTATE].get(NAME)
        made = self.own(kinds.DAEMON_SET, HANDLER)
        if resource is None or pods.deleting(resource):
            if made is not None:
                self.api.delete(kinds.DAEMON_SET, HANDLER, self.namespace)
            return
        generation = str(resource["metadata"]["generation"])
        if made is None or pods.annotations(made).get(POLICY_LABEL) != generation:
            self.make(operands(self.namespace, resource), resource)
        available = ready([made])
        reason = SUCCESS if available else PROGRESS
        truths = {"Available": available, "Progressing": not available, "Degraded": False}
        conditions = stated(resource, {kind: (str(holds), reason, "") for kind, holds in truths.items()})
        self.api.set_status(kinds.NMSTATE, resource, {"conditions": conditions})


def operands(namespace: str, resource: Object) -> grants.Grant:
    """Return what the operator makes: agents on all nodes that the object selects, by default all with Linux."""
    spec = resource.get("spec") or {}
    masters = [
        {"key": f"node-role.kubernetes.io/{role}", "operator": "Exists", "effect": "NoSchedule"}
        for role in ("master", "control-plane")
    ]
    pod = {
        "serviceAccountName": HANDLER,
        "hostNetwork": True,
        "nodeSelector": spec.get("nodeSelector") or {"kubernetes.io/os": "linux"},
        "tolerations": [*masters, *(spec.get("tolerations") or [])],
        "containers": [{"name": HANDLER, "image": HANDLER_IMAGE, "securityContext": {"privileged": True}}],
    }
    kind, agents = daemon_set(namespace, HANDLER, pod, "NMState operator")
    agents["metadata"]["annotations"][POLICY_LABEL] = str(resource["metadata"]["generation"])
    return [
        grants.service_account(namespace, HANDLER),
        *grants.cluster_wide(HANDLER, namespace, HANDLER, (*HANDLER_RULES, rbac.use_scc("privileged"))),
        (kind, agents),
    ]


def trouble(policy: Object, node: Object) -> str | None:
    """Return why a node cannot take a policy, None if it can: it must have the ports that the policy names.

    Nothing is known of a machine whose interfaces no document names; such a one takes everything.
    """
    annotation = pods.annotations(node).get(names.INTERFACES)
    if annotation is None:
        return None
    existing = {*json.loads(annotation)}
    interfaces = (policy["spec"].get("desiredState") or {}).get("interfaces") or []
    made = {
        interface["name"]
        for interface in interfaces
        if interface.get("type") not in PHYSICAL and interface.get("state") != "absent"
    }
    for interface in interfaces:
        if interface.get("type") in PHYSICAL and interface["name"] not in existing and interface.get("state") == "up":
            what = f"Interface {interface['name']} has no matching device on this node"
            return _error(node, what)
        ports = (interface.get("link-aggregation") or {}).get("port") or []
        lost = [port for port in ports if port not in existing | made]
        if lost:
            return _error(
                node, f"Interface {interface['name']} of type bond needs the port {lost[0]}, which is not there"
            )
    return None


def _error(node: Object, what: str) -> str:
    name = node["metadata"]["name"]
    return (
        f'error reconciling NodeNetworkConfigurationPolicy on node {name} at desired state apply: "",\n'
        f" NmstateError: InvalidArgument: {what}"
    )


def mtus(policy: Object) -> dict[str, int]:
    """Return interface -> the MTU that a policy gives it, bytes."""
    interfaces = (policy["spec"].get("desiredState") or {}).get("interfaces") or []
    return {interface["name"]: interface["mtu"] for interface in interfaces if isinstance(interface.get("mtu"), int)}


def enactment(policy: Object, node: str) -> Object:
    """Return what records how a policy fares on a node."""
    name = policy["metadata"]["name"]
    return manifest(
        ENACTMENT,
        f"{node}.{name}",
        labels={POLICY_LABEL: name, NODE_LABEL: node},
        annotations=simulated_by("nmstate-handler"),
        owners=[owner_reference(policy, controller=False)],
    )


def enacted(state: str, reason: str, message: str = "") -> dict[str, tuple[str, str, str]]:
    """Return the conditions of an enactment in one of its states."""
    return {kind: ("True" if kind == state else "False", reason, message if kind == state else "") for kind in _STATES}


def judged(count: int, done: int, failed: int, aborted: int) -> dict[str, tuple[str, str, str]]:
    """Return the conditions of a policy for `count` nodes, of which so many are done, failed and aborted."""
    kinds_of = ("Available", "Degraded", "Progressing", "Ignored")
    if count == 0:
        reported = {"Ignored": ("True", "Policy does not match any node")}
        reason = _NO_NODE
    elif failed or aborted:
        rest = f", {aborted} nodes aborted configuration" if aborted else ""
        reported = {"Degraded": ("True", f"{failed}/{count} nodes failed to configure{rest}")}
        reason = FAILURE
    elif done < count:
        reported = {
            "Available": ("Unknown", ""),
            "Degraded": ("Unknown", ""),
            "Progressing": ("True", f"Policy is progressing {done}/{count} nodes finished"),
        }
        reason = PROGRESS
    else:
        reported = {"Available": ("True", f"{count}/{count} nodes successfully configured")}
        reason = SUCCESS
    return {kind: (reported.get(kind, ("False", ""))[0], reason, reported.get(kind, ("", ""))[1]) for kind in kinds_of}


class NmStateHandler(PodActor):
    """Carries out the policies on its node; the first agent by name decides the order for all, as a lease does."""

    _policies: Informer
    _loop: Loop

    def start(self) -> None:
        """Watch policies, nodes and the other agents."""
        self._loop = self.loop(self._reconcile)
        self._policies = self.watch(kinds.NODE_NETWORK_CONFIGURATION_POLICY, self._loop)
        self.runtime.pods.on_change(self._pod_changed)
        self.runtime.nodes.on_change(self._node_changed)

    def _pod_changed(self, _key: Key, _old: Object | None, pod: Object | None) -> None:
        if not self.stopped.is_set() and (pod is None or pods.basename(pods.image(pod)) in images.NMSTATE_HANDLERS):
            self._wake()

    def _node_changed(self, _key: Key, old: Object | None, node: Object | None) -> None:
        if self.stopped.is_set():
            return
        seen = [
            version and (pods.labels(version), pods.annotations(version).get(names.INTERFACES))
            for version in (old, node)
        ]
        if seen[0] != seen[1]:
            self._wake()

    def _wake(self) -> None:
        for policy in self._policies.items():
            self._loop.add(("", policy["metadata"]["name"]))

    def _reconcile(self, key: Key) -> None:
        policy = self._policies.get(key[1])
        agents = nodes_where(self.runtime, images.NMSTATE_HANDLERS)
        first = min((pod["metadata"]["name"] for group in agents.values() for pod in group), default="")
        if policy is None or pods.deleting(policy) or first != self.pod["metadata"]["name"]:
            return
        selector = {"matchLabels": policy["spec"].get("nodeSelector") or {}}
        nodes = [
            node
            for node in sorted(self.runtime.nodes.items(), key=lambda node: str(node["metadata"]["name"]))
            if node["metadata"]["name"] in agents and selects(selector or {}, pods.labels(node))
        ]
        # The agents stop at the first node that fails: what is wrong there would cut off the others, too.
        failed = next((index for index, node in enumerate(nodes) if trouble(policy, node)), None)
        for index, node in enumerate(nodes if failed is None else nodes[: failed + 1]):
            why = trouble(policy, node)
            if not why:
                self._record_mtus(policy, node)
            state = enacted("Failing", FAILURE, why or "") if why else enacted("Available", SUCCESS)
            self._record(policy, node["metadata"]["name"], state)
            if index == 0:
                self.log_line(f"policy {key[1]} on {len(nodes)} nodes")
        for node in nodes[failed + 1 :] if failed is not None else ():
            self._record(policy, node["metadata"]["name"], enacted("Aborted", _ABORTED))
        aborted = len(nodes) - failed - 1 if failed is not None else 0
        done = len(nodes) if failed is None else failed
        conditions = stated(policy, judged(len(nodes), done, int(failed is not None), aborted))
        self.api.set_status(kinds.NODE_NETWORK_CONFIGURATION_POLICY, policy, {"conditions": conditions})

    def _record_mtus(self, policy: Object, node: Object) -> None:
        """Note on a node the MTUs that its interfaces have now, as its kubelet would find them."""
        old = json.loads(pods.annotations(node).get(names.PORT_MTUS, "{}"))
        if (new := old | mtus(policy)) != old:
            self.runtime.kubelet.annotate(kinds.NODE, node["metadata"]["name"], {names.PORT_MTUS: json.dumps(new)})

    def _record(self, policy: Object, node: str, conditions: dict[str, tuple[str, str, str]]) -> None:
        body = enactment(policy, node)
        name = body["metadata"]["name"]
        have = self.api.find(ENACTMENT, name) or self.api.apply(ENACTMENT, body)
        status = {
            "policyGeneration": policy["metadata"]["generation"],
            "desiredState": policy["spec"].get("desiredState") or {},
            "conditions": stated(have, conditions),
        }
        self.api.set_status(ENACTMENT, have, status)
