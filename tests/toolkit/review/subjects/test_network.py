"""NetworkPolicies."""

from typing import Any

from tests.support.reviews import created, deleted, made, reported, review, updated
from toolkit.review.subjects import network


def policy(*peers: Any, name: str = "p") -> Any:
    """Return a policy that lets these peers in."""
    spec = {"podSelector": {}, "policyTypes": ["Ingress"], "ingress": [{"from": list(peers)}] if peers else []}
    return made("networking.k8s.io/v1:NetworkPolicy", {"metadata": {"name": name, "namespace": "a"}, "spec": spec})


OWN: dict[str, Any] = {"podSelector": {}}
MONITORING = {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "openshift-monitoring"}}}
ALL: dict[str, Any] = {"namespaceSelector": {}}


def test_policies() -> None:
    """A namespace that becomes reachable from more sources is an alarm."""
    closed = policy(OWN)
    assert reported(network.find, review(created(closed))) == [
        "NetworkPolicy a/p closes all pods of namespace a: traffic from: pods of its own namespace only"
    ]
    assert reported(network.find, review(updated(closed, policy(OWN, MONITORING, ALL)))) == [
        "! NetworkPolicy a/p changes all pods of namespace a: "
        "now also from pods of every namespace and pods of namespace openshift-monitoring"
    ]
    assert reported(network.find, review(updated(policy(OWN, ALL), closed))) == [
        "NetworkPolicy a/p changes all pods of namespace a: no longer from pods of every namespace"
    ]
    assert reported(network.find, review(deleted(closed))) == [
        "! namespace a loses NetworkPolicy a/p: nothing else restricts who reaches its pods"
    ]
    assert reported(network.find, review(deleted(closed), created(policy(OWN, name="q"))))[0] == (
        "namespace a loses NetworkPolicy a/p: others remain"
    )
    assert reported(network.find, review(updated(closed, closed))) == []
