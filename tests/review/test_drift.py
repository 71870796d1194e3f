"""What drifted, from the events of a refresh."""

from typing import Any

import pytest

from review import drift, live
from review.model import CHANGED, Change, Op, Resource

ENDED: dict[str, Any] = {"summaryEvent": {"resourceChanges": {}}}
SECRET = {"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "ciphertext": "[secret]"}
BINDING = {"subjects": [{"kind": "ServiceAccount", "name": "mpi", "namespace": "a"}]}


def looked(
    kind: str, declared: dict[str, Any], seen: dict[str, Any] | None, diff: Any = None, held: Any = None
) -> Change:
    """Return the change of one object that was read again; None: it is gone."""
    urn = f"urn:pulumi:dev::hpc::kubernetes:{kind}::x"
    old = {"type": f"kubernetes:{kind}", "urn": urn, "inputs": declared, "outputs": held or {}}
    new = None if seen is None else {**old, "inputs": declared, "outputs": seen}
    step = {"op": "delete" if seen is None else "same", "urn": urn, "old": old, "new": new, "detailedDiff": diff}
    (change,) = drift.read([{"resOutputsEvent": {"metadata": step}}, ENDED], "dev").changes
    return change


@pytest.mark.parametrize(
    ("kind", "declared", "seen", "then"),
    [
        # what somebody has changed
        ("core/v1:ConfigMap", {"data": {"k": "1"}}, {"data": {"k": "2"}}, {"data": {"k": "2"}}),
        ("core/v1:ConfigMap", {"data": {"k": "1", "l": "1"}}, {"data": {"l": "1"}}, {"data": {"l": "1"}}),
        ("core/v1:ConfigMap", {"data": {"k": "1"}}, {}, {}),
        (
            "rbac.authorization.k8s.io/v1:RoleBinding",
            BINDING,
            {"subjects": [*BINDING["subjects"], {"kind": "User", "name": "eve"}]},
            {"subjects": [*BINDING["subjects"], {"kind": "User", "name": "eve"}]},
        ),
        (
            "security.openshift.io/v1:SecurityContextConstraints",
            {"users": ["a"], "allowedCapabilities": []},
            {"users": ["b", "a"], "allowedCapabilities": ["SYS_ADMIN"]},
            {"users": ["a", "b"], "allowedCapabilities": ["SYS_ADMIN"]},
        ),
        (
            "apps/v1:DaemonSet",
            {"spec": {"template": {"spec": {"containers": [{"name": "c", "args": ["1", "2"]}]}}}},
            {"spec": {"template": {"spec": {"containers": [{"name": "x"}, {"name": "c", "args": ["2", "1"]}]}}}},
            {"spec": {"template": {"spec": {"containers": [{"name": "c", "args": ["2", "1"]}, {"name": "x"}]}}}},
        ),
        ("core/v1:Pod", {"spec": {"hostPID": False}}, {"spec": {"hostPID": True}}, {"spec": {"hostPID": True}}),
        ("core/v1:ConfigMap", {"data": {"k": "1000m"}}, {"data": {"k": "1"}}, {"data": {"k": "1"}}),
        # what server and operators fill in, and what means the same
        ("core/v1:ConfigMap", {"data": {"k": "1"}}, {"data": {"k": "1", "l": "2"}, "metadata": {"uid": "1"}}, None),
        ("v1:Quota", {"spec": {"hard": {"a": "1000m", "b": 2}}}, {"spec": {"hard": {"a": "1", "b": "2"}}}, None),
        ("core/v1:Pod", {"spec": {"hostNetwork": False, "volumes": []}}, {"spec": {"nodeName": "n"}}, None),
        ("core/v1:ServiceAccount", {"imagePullSecrets": [{"name": "a"}]}, {"imagePullSecrets": [{"name": "b"}]}, None),
        ("batch/v1:Job", {"spec": {"suspend": True}}, {"spec": {"suspend": False}, "status": {"succeeded": 1}}, None),
        (
            "a.b/v1:Subscription",
            {"spec": {"name": "a"}},
            {"spec": {"name": "a"}, "status": {"installedCSV": "c"}},
            None,
        ),
        ("b/v1:C", {"metadata": {"annotations": {"pulumi.com/waitFor": "x"}}}, {"metadata": {"annotations": {}}}, None),
        ("b/v1:C", {"spec": {"x-kubernetes-map-type": "a"}}, {"spec": {"x_kubernetes_map_type": "a"}}, None),
        (
            "security.openshift.io/v1:SecurityContextConstraints",
            {"allowedCapabilities": ["A", "B"]},
            {"allowedCapabilities": ["B", "A"]},
            None,
        ),
    ],
)
def test_drift_is_what_differs_from_what_is_declared(
    kind: str, declared: dict[str, Any], seen: dict[str, Any], then: dict[str, Any] | None
) -> None:
    """Prevents an alarm of every night for what the cluster itself fills in, and silence when somebody gains rights."""
    found = looked(kind, declared, seen)
    assert found.after is not None
    assert (found.op, found.after.inputs) == ((Op.SAME, declared) if then is None else (Op.UPDATE, then))


def test_a_secret_is_told_without_its_value() -> None:
    """Prevents a changed password that nobody hears of, or that everybody reads."""
    data = {"data": {"p": "cGxhbnRlZA=="}}
    for path in ("stringData.p", "data.p"):
        found = looked("core/v1:Secret", {"stringData": {"p": SECRET}}, data, {path: {"diffKind": "update"}})
        assert found.op is Op.UPDATE
        assert found.resource.inputs == {"stringData": {"p": CHANGED}}
        assert "cGxhbnRlZA" not in repr(found)
    assert looked("core/v1:Secret", {"stringData": {"p": SECRET}}, data).op is Op.SAME


@pytest.mark.parametrize(
    ("kind", "declared", "held", "op"),
    [
        ("core/v1:ServiceAccount", {}, {}, Op.DELETE),
        ("core/v1:NodePatch", {"metadata": {"labels": {"a": "b"}}}, {}, Op.DELETE),
        ("operators.coreos.com/v1alpha1:ClusterServiceVersionPatch", {}, {}, Op.SAME),
        ("batch/v1:Job", {"spec": {}}, {"status": {"conditions": [{"type": "Complete", "status": "True"}]}}, Op.DELETE),
        ("batch/v1:Job", {"spec": {"ttlSecondsAfterFinished": 9}}, {}, Op.SAME),
        ("kubeflow.org/v2beta1:MPIJob", {"spec": {"runPolicy": {"ttlSecondsAfterFinished": 9}}}, {}, Op.SAME),
        (
            "batch/v1:Job",
            {"spec": {"ttlSecondsAfterFinished": 9}},
            {"status": {"conditions": [{"type": "Suspended", "status": "True"}]}},
            Op.DELETE,
        ),
    ],
)
def test_what_is_gone(kind: str, declared: dict[str, Any], held: dict[str, Any], op: Op) -> None:
    """Prevents an alarm for a job that went as it was told, and none for one that somebody took away."""
    assert looked(kind, declared, None, held=held).op is op


@pytest.mark.parametrize(
    ("declared", "seen", "expected"),
    [
        ("1Gi", "1024Mi", True),
        ("1", 1, False),
        (1, "1", True),
        ("0.5", "500m", True),
        ("a", "b", False),
        (True, "true", False),
        (None, "", True),
        ("", "0", False),
        ("1.2.3", "1.2", False),
    ],
)
def test_values_that_mean_the_same(declared: Any, seen: Any, expected: bool) -> None:
    """Prevents drift for a quantity that the server has written in its own way."""
    assert live.same(declared, seen, quantity=True) is expected
    assert live.same("1000m", "1") is False


def test_what_is_compared_is_not_changed() -> None:
    """Prevents a comparison that writes into what it compares."""
    declared, seen = {"a": {"b": [1]}}, {"a": {"b": [1, 2]}}
    assert live.as_live(Resource("u", "kubernetes:b/v1:C", declared, live=seen)) == {"a": {"b": [1, 2]}}
    assert (declared, seen) == ({"a": {"b": [1]}}, {"a": {"b": [1, 2]}})


def test_a_refresh_that_failed() -> None:
    """Prevents a night without an answer from counting as one without drift."""
    assert drift.read([], "dev", trouble="no cluster").failed == "no cluster"
    assert drift.read([ENDED], "dev").failed == ""
