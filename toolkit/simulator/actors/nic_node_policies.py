"""NicNodePolicies: which nodes they select, and what keeps the network operator from acting on them (pure).

While any node is selected by two of them, all are in error and nothing is changed. A part may be in NicNodePolicies or
in the NicClusterPolicy: the real operator's webhook refuses the later of the two; here the former is in error. Source:
Mellanox/network-operator, docs/heterogeneous-cluster-support.md, controllers/nicnodepolicy_controller.go and
pkg/policyoverlap.
"""

from collections.abc import Sequence

from toolkit.simulator import pods
from toolkit.simulator.actors.api import Object
from toolkit.simulator.actors.network_operands import STATES


def selects(policy: Object, node: Object) -> bool:
    """Return whether a policy is for a node; one without a selector is for all."""
    labels = pods.labels(node)
    return all(labels.get(key) == value for key, value in (policy["spec"].get("nodeSelector") or {}).items())


def wrong(cluster: Object | None, policies: Sequence[Object], nodes: Sequence[Object]) -> dict[str, str]:
    """Return the names of policies that the operator does not act on, each with the reason."""
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
