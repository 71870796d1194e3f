"""What drifted, from the events of a refresh."""

from dataclasses import replace
from typing import Any

import pytest

from apis import names
from review import drift, live
from review.model import CHANGED, REDACTED, Change, Op, Resource

ENDED: dict[str, Any] = {"summaryEvent": {"resourceChanges": {}}}
SECRET = {"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "ciphertext": "[secret]"}
PULLS = {"imagePullSecrets": [{"name": "a"}]}
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
        ("core/v1:ConfigMap", {"data": {"k": "1"}}, {"data": {"k": "1", "l": ""}}, None),
        ("core/v1:ConfigMap", {"data": {"k": "1"}}, {"data": {"k": "1", "l": "2"}}, {"data": {"k": "1", "l": "2"}}),
        # what server and operators fill in, and what means the same
        ("core/v1:ConfigMap", {"data": {"k": "1"}}, {"data": {"k": "1"}, "metadata": {"uid": "1"}}, None),
        ("v1:Quota", {"spec": {"hard": {"a": "1000m", "b": 2}}}, {"spec": {"hard": {"a": "1", "b": "2"}}}, None),
        ("core/v1:Pod", {"spec": {"hostNetwork": False, "volumes": []}}, {"spec": {"nodeName": "n"}}, None),
        ("core/v1:ServiceAccount", PULLS, {"imagePullSecrets": [{"name": "b"}, {"name": "a"}]}, None),
        ("core/v1:ServiceAccount", PULLS, {"imagePullSecrets": [{"name": "b"}]}, {"imagePullSecrets": []}),
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


SUCCEEDED = {"type": "Succeeded", "status": "True"}
QUEUED = {"metadata": {"labels": {names.QUEUE_NAME: "q"}}}
HELD = {"spec": {"runPolicy": {"suspend": True}}}
INJECTED = {"metadata": {"labels": {"config.openshift.io/inject-trusted-cabundle": "true"}}}
LEVEL = names.POD_SECURITY + "enforce"
ONE, TWO = {"kind": "ServiceAccount", "name": "mpi", "namespace": "a"}, {"kind": "User", "name": "ann"}
AGAIN = {**ONE, "namespace": "b"}
GROUP = {"apiGroup": "rbac.authorization.k8s.io"}
RULE = {"apiGroups": [""], "resources": ["pods", "nodes"], "verbs": ["get"]}


@pytest.mark.parametrize(
    ("kind", "declared", "seen"),
    [
        ("v1:RoleBinding", {"subjects": [ONE, TWO, AGAIN]}, {"subjects": [{**TWO, **GROUP}, AGAIN, ONE]}),
        ("v1:Role", {"rules": [RULE, {"verbs": ["use"]}]}, {"rules": [{"verbs": ["use"]}, RULE]}),
        ("v1:Role", {"rules": [RULE]}, {"rules": [{**RULE, "resources": ["nodes", "pods"]}]}),
        (
            "v1:Service",
            {"spec": {"ports": [{"port": 1}, {"port": 2}]}},
            {"spec": {"ports": [{"port": 2, "protocol": "TCP"}, {"port": 1, "protocol": "TCP"}]}},
        ),
        (
            "v1:NetworkPolicy",
            {"spec": {"podSelector": {}, "ingress": [{"from": [{"podSelector": {}}], "ports": [{"port": 22}]}]}},
            {"spec": {"ingress": [{"ports": [{"port": 22, "protocol": "TCP"}], "from": [{"podSelector": {}}]}]}},
        ),
        (
            "v1:NodePatch",
            {"spec": {"taints": [{"key": "a"}, {"key": "b"}]}},
            {"spec": {"taints": [{"key": "b"}, {"key": "a"}]}},
        ),
        (
            "v1:X",
            {"spec": {"tolerations": [{"key": "a"}, {"key": "b"}]}},
            {"spec": {"tolerations": [{"key": "b"}, {"key": "a"}]}},
        ),
        (
            "v1:Pod",
            {"spec": {"tolerations": [{"key": "a"}]}},
            {"spec": {"tolerations": [{"key": "a"}, {"key": "gone"}]}},
        ),
        ("v1:Pod", {"spec": {"volumes": [{"name": "a"}]}}, {"spec": {"volumes": [{"name": "a"}, {"name": "token"}]}}),
        ("v1:MPIJob", {**QUEUED, **HELD}, {**QUEUED, "spec": {"runPolicy": {"suspend": False}}}),
        ("v1:Job", {**QUEUED, "spec": {}}, {**QUEUED, "spec": {"suspend": True}}),
        (
            "v1:Job",
            {**QUEUED, "spec": {"nodeSelector": {"a": "b"}}},
            {**QUEUED, "spec": {"nodeSelector": {"a": "b", "flavour": "c"}, "suspend": False}},
        ),
        ("v1:ConfigMap", {**INJECTED, "data": {"k": "1"}}, {**INJECTED, "data": {"k": "1", "ca-bundle.crt": "x"}}),
        ("v1:ClusterRole", {"aggregationRule": {"a": 1}, "rules": []}, {"aggregationRule": {"a": 1}, "rules": [RULE]}),
        ("v1:Namespace", {"metadata": {"labels": {}}}, {"metadata": {"labels": {LEVEL: "privileged"}}}),
    ],
)
def test_what_controllers_write_is_no_drift(kind: str, declared: dict[str, Any], seen: dict[str, Any]) -> None:
    """Prevents an alarm every night, and an update of every `up`, for an order or a field that a controller chose."""
    assert looked(kind, declared, seen).op is Op.SAME


@pytest.mark.parametrize(
    ("kind", "declared", "seen"),
    [
        ("v1:X", {"spec": {"ports": [80]}}, {"spec": {"ports": [80, 80]}}),
        ("v1:X", {"spec": {"args": ["a"]}}, {"spec": {"args": ["a", "a"]}}),
        ("v1:X", {"spec": {"args": ["a", "b"]}}, {"spec": {"args": ["b", "a"]}}),
        ("v1:Role", {"rules": [RULE]}, {"rules": [RULE, RULE]}),
        ("v1:Role", {"rules": [RULE]}, {"rules": [{**RULE, "resourceNames": ["a"]}]}),
        ("v1:NetworkPolicy", {"spec": {"podSelector": {}}}, {"spec": {"podSelector": {"matchLabels": {"a": "b"}}}}),
        (
            "v1:NetworkPolicy",
            {"spec": {"ingress": [{"from": [{"podSelector": {"matchLabels": {"a": "b"}}}]}]}},
            {
                "spec": {
                    "ingress": [{"from": [{"podSelector": {"matchLabels": {"a": "b"}}, "namespaceSelector": {"c": 1}}]}]
                }
            },
        ),
        ("v1:DaemonSet", {"spec": {"nodeSelector": {"a": "b"}}}, {"spec": {"nodeSelector": {"a": "b", "c": "d"}}}),
        ("v1:Service", {"spec": {"selector": {"a": "b"}}}, {"spec": {"selector": {"a": "b", "c": "d"}}}),
        ("v1:ResourceQuota", {"spec": {"hard": {"a": "1"}}}, {"spec": {"hard": {"a": "1", "b": "1"}}}),
        ("v1:MPIJob", {"spec": {}}, {"spec": {"runPolicy": {"suspend": True}}}),
        ("v1:ClusterRole", {"rules": [RULE]}, {"rules": [RULE], "aggregationRule": {"clusterRoleSelectors": [1]}}),
        ("v1:SecurityContextConstraints", {}, {"allowedUnsafeSysctls": ["*"]}),
        (
            "v1:Namespace",
            {"metadata": {"labels": {names.POD_SECURITY_SYNC: "false"}}},
            {"metadata": {"labels": {names.POD_SECURITY_SYNC: "false", LEVEL: "privileged"}}},
        ),
    ],
)
def test_what_widens_or_narrows_is_drift(kind: str, declared: dict[str, Any], seen: dict[str, Any]) -> None:
    """Prevents silence where somebody adds to what is one value: a selector, a rule, a field that gives power.

    And a repair that the server is asked for, and that leaves it: what is mended is as declared.
    """
    found = looked(kind, declared, seen)
    assert found.op is Op.UPDATE
    assert found.before is not None
    mended = live.mended(found.before, seen)
    assert live.as_live(replace(found.before, live=mended.body)) == declared


def test_what_is_mended_keeps_what_is_of_others() -> None:
    """Prevents a repair that takes defaults, labels of others or a secret's values off an object."""
    declared = {"metadata": {"labels": {"a": "1"}}, "spec": {"ports": [{"port": 1}], "hard": {"x": "1000m"}}}
    seen = {
        "metadata": {"uid": "u", "labels": {"a": "2", "b": "3"}},
        "spec": {"ports": [{"port": 9, "protocol": "UDP"}, {"port": 1, "protocol": "TCP"}], "hard": {"x": "1"}},
        "status": {"phase": "Active"},
    }
    found = live.mended(Resource("u", "kubernetes:core/v1:ResourceQuota", declared), seen)
    assert found.body == {
        "metadata": {"uid": "u", "labels": {"a": "1", "b": "3"}},
        "spec": {"ports": [{"port": 1, "protocol": "TCP"}], "hard": {"x": "1"}},
        "status": {"phase": "Active"},
    }
    assert found.taken == (("spec", "ports", 0),)
    hidden = Resource("u", "kubernetes:core/v1:Secret", {"data": {"p": REDACTED}, "stringData": {"q": REDACTED}})
    assert live.mended(hidden, {"data": {"p": "x"}}).body == {"data": {"p": "x"}}


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
        ("batch/v1:Job", {"spec": {}}, {"status": {"conditions": [{"type": "Complete", "status": "True"}]}}, Op.SAME),
        (
            "batch/v1:Job",
            {"spec": {}},
            {"status": {"conditions": [{"type": "Suspended", "status": "True"}]}},
            Op.DELETE,
        ),
        ("kubeflow.org/v1alpha2:MPIJob", {"spec": {}}, {"status": {"conditions": [SUCCEEDED]}}, Op.SAME),
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


def test_a_job_that_was_cleaned_away_is_told() -> None:
    """Prevents a job that runs on sixteen GPUs once more because somebody tidied up; and silence about it."""
    urn = "urn:pulumi:dev::hpc::kubernetes:kubeflow.org/v1alpha2:MPIJob::x"
    old = {
        "type": "kubernetes:kubeflow.org/v1alpha2:MPIJob",
        "urn": urn,
        "outputs": {"status": {"conditions": [SUCCEEDED]}},
    }
    for spec, told in (
        ({}, 1),
        ({"ttlSecondsAfterFinished": 9}, 0),
        ({"runPolicy": {"ttlSecondsAfterFinished": 9}}, 0),
    ):
        inputs = {"metadata": {"name": "nccl", "namespace": "a"}, "spec": spec}
        step = {"op": "delete", "urn": urn, "old": {**old, "inputs": inputs}}
        found = drift.read([{"resOutputsEvent": {"metadata": step}}, ENDED], "dev")
        assert found.changed == ()
        assert len(found.warnings) == told
        assert all(each.startswith("MPIJob a/nccl has ended") for each in found.warnings)


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
