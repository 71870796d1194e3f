"""NetworkPolicies."""

from typing import Any

from tests.support.messages import like
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
        like("NetworkPolicy a/p closes ... namespace a ... own namespace only")
    ]
    assert reported(network.find, review(updated(closed, policy(OWN, MONITORING, ALL)))) == [
        like("! NetworkPolicy a/p changes ... namespace a ... now also ... every namespace ... openshift-monitoring")
    ]
    assert reported(network.find, review(updated(policy(OWN, ALL), closed))) == [
        like("NetworkPolicy a/p changes ... namespace a ... no longer ... every namespace")
    ]
    assert reported(network.find, review(deleted(closed))) == [
        like("! namespace a loses NetworkPolicy a/p ... nothing else")
    ]
    assert reported(network.find, review(deleted(closed), created(policy(OWN, name="q"))))[0] == (
        like("namespace a loses NetworkPolicy a/p ... others remain")
    )
    assert reported(network.find, review(updated(closed, closed))) == []
