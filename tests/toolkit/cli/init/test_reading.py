"""Answers of a cluster that may be anything."""

from typing import Any

import pytest

from core.apis import kinds
from tests.support.messages import has
from tests.toolkit.cli.init.kit import api, cluster, obj
from toolkit.cli.init import reading
from toolkit.review.sentences import bare


def test_a_role_of_the_node_is_what_its_labels_say() -> None:
    """Masters of today are called control-plane; a node without any role takes workloads."""
    nodes = [
        obj("a", labels={"node-role.kubernetes.io/control-plane": "", "node-role.kubernetes.io/worker": ""}),
        obj("b"),
    ]
    assert [one.roles for one in reading.read(api(cluster(NODE=nodes))).nodes] == [("master", "worker"), ("worker",)]


@pytest.mark.parametrize(
    "junk", [None, [], "x", 7, {"status": []}, {"spec": "x"}, {"status": {"channels": [1, {"x": 2}]}}]
)
def test_parts_that_are_not_as_they_should_be_are_not_known(junk: Any) -> None:
    """A field with a value of a wrong type is unknown, without a traceback."""
    parts = junk if isinstance(junk, dict) else {"status": junk, "spec": junk}
    names = (
        "PACKAGE_MANIFEST",
        "SUBSCRIPTION",
        "CLUSTER_SERVICE_VERSION",
        "OPERATOR_GROUP",
        "DEPLOYMENT",
        "NETWORK_CONFIG",
    )
    found = reading.read(api(cluster(**{name: [obj("cluster", "ns", **parts)] for name in names})))
    assert (found.version, found.mtu) == ("4.20.8", None)


def test_what_is_not_ready_is_known_before_the_stack_has_it() -> None:
    """An operator's object that is not ready is a fact about the cluster, and what may not be read is named once."""
    policy = obj("gpu-cluster-policy", status={"state": "notReady"})
    (said,) = reading.read(api(cluster(CLUSTER_POLICY=[policy]))).unready
    assert has(bare(said), "ClusterPolicy gpu-cluster-policy", "not ready already", "state notReady")
    refused = reading.read(api(cluster(CLUSTER_POLICY=[policy]), clusterpolicies=(403, "forbidden")))
    assert refused.unread == ("clusterpolicies: 403, forbidden",)


def test_kinds_that_are_not_served_are_not_there() -> None:
    """A cluster without OperatorHub has no packages, and that is not a refusal."""
    objects = cluster()
    del objects[kinds.PACKAGE_MANIFEST]
    found = reading.read(api(objects))
    assert (found.packages, found.unread) == ({}, ())


def test_an_answer_that_is_no_json_is_reported() -> None:
    """An answer that is not JSON, as of a proxy, is an error with the address."""
    refused: Any = {"packagemanifests": "html"}
    assert reading.read(api(cluster(), **refused)).unread == ("packagemanifests: the server's answer is not JSON",)
