"""What drifted, from the events of a refresh."""

from dataclasses import replace
from typing import Any

import pytest

from core.apis import names
from core.pulumi_values import REDACTED
from tests.support.reviews import created, made, review, same, updated
from toolkit.review import drift, live
from toolkit.review.model import CHANGED, Change, Op, Resource

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
        ("b/v1:C", {"metadata": {"annotations": {"pulumi.com/waitFor": "x"}}}, {"metadata": {}}, None),
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
    """Fields that the cluster fills in are not drift; additional rights are."""
    found = looked(kind, declared, seen)
    assert found.after is not None
    assert (found.op, found.after.inputs) == ((Op.SAME, declared) if then is None else (Op.UPDATE, then))


def test_what_an_interrupted_replacement_left_is_no_drift() -> None:
    """Of a resource and what an interrupted replacement of it left, the resource is compared."""
    urn = "urn:pulumi:dev::hpc::kubernetes:core/v1:ConfigMap::x"
    old = {"type": "kubernetes:core/v1:ConfigMap", "urn": urn, "inputs": {"data": {"k": "1"}}}
    seen = {"op": "same", "urn": urn, "old": old, "new": {**old, "outputs": {"data": {"k": "2"}}}}
    left = {"op": "same", "urn": urn, "old": {**old, "delete": True}, "new": {**old, "outputs": {"data": {"k": "1"}}}}
    log = [{"resOutputsEvent": {"metadata": each}} for each in (seen, left)]
    assert [change.op for change in drift.read([*log, ENDED], "dev").changes] == [Op.UPDATE]


def test_the_namespace_of_what_has_none_is_no_drift() -> None:
    """A namespace that the official provider adds to inputs of unknown kinds is not drift."""
    declared = {"metadata": {"name": "gpu", "namespace": "default"}}
    found = looked("example.com/v1:Pool", declared, {"metadata": {"name": "gpu"}})
    assert found.op is Op.SAME
    assert looked("v1:X", declared, {"metadata": {"name": "gpu", "namespace": "other"}}).op is Op.UPDATE


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
    """The order of sets, and fields that controllers set, are not drift."""
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
    """Additions to what is one value (a selector, a rule, a field that gives privileges) are drift and repaired."""
    found = looked(kind, declared, seen)
    assert found.op is Op.UPDATE
    assert found.before is not None
    repaired = live.repaired(found.before, seen)
    assert live.as_live(replace(found.before, live=repaired.body)) == declared


def test_what_is_mended_keeps_what_is_of_others() -> None:
    """A repair leaves defaults, labels of other owners and values of secrets."""
    declared = {"metadata": {"labels": {"a": "1"}}, "spec": {"ports": [{"port": 1}], "hard": {"x": "1000m"}}}
    seen = {
        "metadata": {"uid": "u", "labels": {"a": "2", "b": "3"}},
        "spec": {"ports": [{"port": 9, "protocol": "UDP"}, {"port": 1, "protocol": "TCP"}], "hard": {"x": "1"}},
        "status": {"phase": "Active"},
    }
    found = live.repaired(Resource("u", "kubernetes:core/v1:ResourceQuota", declared), seen)
    assert found.body == {
        "metadata": {"uid": "u", "labels": {"a": "1", "b": "3"}},
        "spec": {"ports": [{"port": 1, "protocol": "TCP"}], "hard": {"x": "1"}},
        "status": {"phase": "Active"},
    }
    assert found.removed == (("spec", "ports", 0),)
    hidden = Resource("u", "kubernetes:core/v1:Secret", {"data": {"p": REDACTED}, "stringData": {"q": REDACTED}})
    assert live.repaired(hidden, {"data": {"p": "x"}}).body == {"data": {"p": "x"}}


def test_a_secret_is_reported_without_its_value() -> None:
    """A changed secret is reported, without its value."""
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
    """A job that is declared to go when it has finished is not drift; one deleted manually is reported."""
    assert looked(kind, declared, None, held=held).op is op


def test_a_job_that_was_cleaned_away_is_reported() -> None:
    """A finished job that was deleted is a warning, and is not run again."""
    urn = "urn:pulumi:dev::hpc::kubernetes:kubeflow.org/v1alpha2:MPIJob::x"
    old = {
        "type": "kubernetes:kubeflow.org/v1alpha2:MPIJob",
        "urn": urn,
        "outputs": {"status": {"conditions": [SUCCEEDED]}},
    }
    for spec, reported in (
        ({}, 1),
        ({"ttlSecondsAfterFinished": 9}, 0),
        ({"runPolicy": {"ttlSecondsAfterFinished": 9}}, 0),
    ):
        inputs = {"metadata": {"name": "nccl", "namespace": "a"}, "spec": spec}
        step = {"op": "delete", "urn": urn, "old": {**old, "inputs": inputs}}
        found = drift.read([{"resOutputsEvent": {"metadata": step}}, ENDED], "dev")
        assert found.changed == ()
        assert len(found.warnings) == reported
        assert all(each.startswith("MPIJob a/nccl has finished") for each in found.warnings)


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
    """Equal quantities in different notations are not drift."""
    assert live.equivalent(declared, seen, quantity=True) is expected
    assert live.equivalent("1000m", "1") is False


def test_a_review_of_an_update_has_what_the_cluster_holds() -> None:
    """What a refresh has read replaces what the state holds; of what it has not read the state is kept."""
    job = made("batch/v1:Job", {"metadata": {"name": "a"}}, live={"status": {"active": 1}})
    gone = made("batch/v1:Job", {"metadata": {"name": "b"}}, live={"status": {"active": 1}})
    ended = replace(job, live={"status": {"conditions": [SUCCEEDED]}}, queried=True)
    found = drift.with_live(review(same(job), same(gone), created(job)), review(updated(job, ended), same(gone)))
    assert [change.before for change in found.changes] == [ended, None, gone]


def test_what_is_compared_is_not_changed() -> None:
    """A comparison does not change its arguments."""
    declared, seen = {"a": {"b": [1]}}, {"a": {"b": [1, 2]}}
    assert live.as_live(Resource("u", "kubernetes:b/v1:C", declared, live=seen)) == {"a": {"b": [1, 2]}}
    assert (declared, seen) == ({"a": {"b": [1]}}, {"a": {"b": [1, 2]}})


def test_a_refresh_that_failed() -> None:
    """A refresh that failed is an incomplete result."""
    assert drift.read([], "dev", trouble="no cluster").failed == "no cluster"
    assert drift.read([ENDED], "dev").failed == ""
