"""Policies and networks of NVIDIA's network operator: a state of the whole, and one of each part.

NicNodePolicies of which two select a node are in state error until one of them no longer does.
"""

from core.apis import kinds
from policies.manifests.values import read
from toolkit.cli.up.waits import driver_upgrades, workloads
from toolkit.cli.up.waits.verdict import DONE, Look, Object, Rule, Verdict, failing, waiting

_KINDS = (kinds.NIC_CLUSTER_POLICY, kinds.NIC_NODE_POLICY, kinds.MACVLAN_NETWORK, kinds.HOST_DEVICE_NETWORK)


def judge(obj: Object, look: Look) -> Verdict:
    """Return how far a policy or a network is; the operator tries again what is in state error."""
    state, reason = (str(read(obj, "status", key) or "").strip() for key in ("state", "reason"))
    if state == "ready":
        return DONE
    of_pool = obj.get("kind") == kinds.NIC_NODE_POLICY.kind
    if state == "ignore":
        return failing("ignored: the operator acts on the one policy nic-cluster-policy only", state)
    operands = workloads.operands(obj, look)
    driver = driver_upgrades.NETWORK_OF_POOL if of_pool else driver_upgrades.NETWORK
    operands = driver_upgrades.beside(operands, driver_upgrades.verdict(obj, driver, look))
    if operands.bad:
        return operands
    parts = [part for part in read(obj, "status", "appliedStates") or () if isinstance(part, dict)]
    wrong = [_reported(part) for part in parts if part.get("state") == "error"]
    if wrong or state == "error":
        return failing("; ".join(["error", *([reason] if reason else []), *wrong]), "error")
    if operands.state == "waiting":
        return operands
    late = [_reported(part) for part in parts if part.get("state") == "notReady"]
    return waiting("; ".join([*([reason] if reason else []), *late]) or state or "the operator has not seen it yet")


def _reported(part: Object) -> str:
    message = str(part.get("message") or "").strip()
    return f"{part.get('name')} is {part.get('state')}" + (f": {message}" if message else "")


RULE = Rule(kinds.NIC_CLUSTER_POLICY.group, tuple(kind.kind for kind in _KINDS), judge)
