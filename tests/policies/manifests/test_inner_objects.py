"""Objects inside others: which are opened, with what they have from the outer one, and which are left out."""

import json
from base64 import b64encode
from textwrap import indent
from typing import Any

import pytest
import yaml

from policies.check import Checker
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj, objects, opened
from policies.manifests.values import Unknown, show
from policies.pack.resources import Properties, as_objects
from policies.rule import Finding, Severity, Undetermined
from tests.policies.conftest import rule_named

VOLUME: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "PersistentVolume",
    "metadata": {"name": "devices"},
    "spec": {"hostPath": {"path": "/dev"}},
}
JOB: dict[str, Any] = {
    "apiVersion": "batch/v1",
    "kind": "Job",
    "metadata": {"name": "train"},
    "spec": {"template": {"spec": {"hostPID": True, "containers": [{"name": "main", "image": "x"}]}}},
}
OCM = "policy.open-cluster-management.io/v1"


def _outer(kind: str, version: str, spec: dict[str, Any], **metadata: Any) -> dict[str, Any]:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": "outer", **metadata}, "spec": spec}


def _configuration(action: str, compliance: str = "musthave") -> dict[str, Any]:
    template = {"complianceType": compliance, "objectDefinition": VOLUME}
    return _outer("ConfigurationPolicy", OCM, {"remediationAction": action, "object-templates": [template]})


def _policy(action: str, inner: dict[str, Any], **spec: Any) -> dict[str, Any]:
    templates = [{"objectDefinition": inner}]
    return _outer("Policy", OCM, {"remediationAction": action, "policy-templates": templates, **spec})


def _kinds(manifest: Any) -> list[str]:
    return [each.kind for each in objects(manifest)]


def _check(*manifests: Any) -> list[Finding]:
    found = [each for manifest in manifests for each in objects(manifest)]
    return list(Checker([rule_named("no-host-path"), rule_named("no-host-namespaces")]).check(found, Inventory(found)))


@pytest.mark.parametrize(
    ("manifest", "severities"),
    [
        (_configuration("enforce"), [Severity.MANDATORY]),
        (_configuration("Inform"), [Severity.ADVISORY]),
        (_configuration("informOnly"), [Severity.ADVISORY]),
        (_configuration("enforce", "MustNotHave"), []),
        (_policy("enforce", _configuration("inform")), [Severity.MANDATORY]),
        (_policy("enforce", _configuration("informOnly")), [Severity.ADVISORY]),
        (_policy("inform", _configuration("enforce")), [Severity.ADVISORY]),
        (_policy("enforce", _configuration("enforce"), disabled=True), [Severity.ADVISORY]),
    ],
    ids=["enforced", "informed", "informed only", "removed", "overridden", "not overridden", "whole", "disabled"],
)
def test_policies_create_what_they_enforce(manifest: Any, severities: list[Severity]) -> None:
    """Objects of a policy are denied where it creates them, reported where it compares them, unless it removes them."""
    assert [finding.severity for finding in _check(manifest)] == severities


@pytest.mark.parametrize(
    "manifest",
    [
        _outer("ScaledObject", "keda.sh/v1alpha1", {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment"}}),
        _outer("Claim", "example.com/v1", {"target": {"apiVersion": "v1", "kind": "Pod", "name": "a", "uid": "b"}}),
        {**_outer("Work", "example.com/v1", {}), "status": {"manifests": [VOLUME]}},
        _outer("Policy", "kyverno.io/v1", {"rules": [{"validate": {"pattern": VOLUME}}]}),
        {"apiVersion": "v1", "kind": "ConfigMap", "data": {"config.yaml": "apiVersion: a/v1\nkind: Configuration\n"}},
        {"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "apiVersion: {{ x }}\nkind: {\n"}},
        {"apiVersion": "v1", "kind": "Secret", "stringData": {"a": yaml.safe_dump(VOLUME)}},
        _outer("Graph", "kro.run/v1alpha1", {"schema": {"apiVersion": "v1", "kind": "App", "spec": {"a": "string"}}}),
    ],
    ids=["a target", "a reference", "status", "a pattern", "a configuration", "no YAML", "a Secret", "a schema"],
)
def test_what_is_no_object_is_left_out(manifest: Any) -> None:
    """References, states, patterns, configurations of programs and ordinary Secrets have no objects inside."""
    assert len(_kinds(manifest)) == 1


@pytest.mark.parametrize(
    "manifest",
    [
        {"type": "addons.cluster.x-k8s.io/resource-set", "stringData": {"a": yaml.safe_dump(VOLUME)}, "kind": "Secret"},
        {
            "type": "addons.cluster.x-k8s.io/resource-set",
            "data": {"a": b64encode(yaml.safe_dump(VOLUME).encode()).decode(), "b": "%", "c": 1},
            "kind": "Secret",
        },
        {"kind": "ConfigMap", "data": {"a": json.dumps({"apiVersion": "v1", "kind": "List", "items": [VOLUME]})}},
    ],
    ids=["plain", "encoded", "a list"],
)
def test_texts_with_manifests_are_read(manifest: Any) -> None:
    """Manifests in the texts of a ConfigMap, or of a Secret whose type says so, are opened in each form."""
    assert _kinds({"apiVersion": "v1", **manifest})[1:] == ["PersistentVolume"]


def test_each_generated_object_is_read() -> None:
    """What a policy of Kyverno generates for each entry of a list is an object with the identity beside its content."""
    entry = {"apiVersion": "v1", "kind": "PersistentVolume", "name": "devices", "data": {"spec": VOLUME["spec"]}}
    policy = _outer("ClusterPolicy", "kyverno.io/v1", {"rules": [{"generate": {"foreach": [{"list": "a", **entry}]}}]})
    assert [str(each) for each in objects(policy)][1:] == ["PersistentVolume devices"]


def test_a_pod_is_examined_once() -> None:
    """A job inside another object is examined as a job, and not again as a part of the outer one."""
    (finding,) = _check(_outer("ManifestWork", "work.open-cluster-management.io/v1", {"manifests": [JOB]}))
    assert (finding.object, show(finding.path)) == ("Job train", "spec.template.spec.hostPID")


def test_an_app_wrapper_gives_its_namespace_and_queue() -> None:
    """Components of an AppWrapper are in its namespace and its queue; objects of the cluster get no namespace."""
    labels = {"kueue.x-k8s.io/queue-name": "jobs"}
    components = [{"template": JOB}, {"template": VOLUME}]
    wrapper = _outer(
        "AppWrapper", "workload.codeflare.dev/v1beta2", {"components": components}, namespace="lidar", labels=labels
    )
    _, job, volume = objects(wrapper)
    assert (str(job), job.mapping("metadata", "labels")) == ("Job lidar/train", labels)
    assert volume.namespace == ""


def test_what_a_controller_fills_in_is_unknown() -> None:
    """Values that the outer object's controller fills in are undetermined, by their place in the inner object."""
    job = {**JOB, "spec": {"template": {"spec": {"hostPID": "{{inputs.parameters.pid}}", "containers": []}}}}
    (finding,) = _check(_outer("Workflow", "argoproj.io/v1alpha1", {"templates": [{"resource": {"manifest": job}}]}))
    assert (finding.undetermined, show(finding.path)) == (Undetermined.VALUE, "spec.template.spec.hostPID")


def test_unknown_values_of_an_update_are_found_inside() -> None:
    """A value that the engine does not know yet is undetermined in the inner object, too."""
    place = ("spec", "manifests", 0, "spec", "hostPath")
    volume = {**VOLUME, "spec": {"hostPath": Unknown(place)}}
    outer = Obj(_outer("ManifestWork", "example.com/v1", {"manifests": [volume]}), unknown=(Unknown(place),))
    ((_, first), (path, inner)) = opened(outer)
    assert (first, path, inner.unknown) == (outer, place[:3], (Unknown(("spec", "hostPath")),))


def test_the_pack_opens_objects() -> None:
    """The engine's resources are opened as manifests are."""
    work = _outer("ManifestWork", "work.open-cluster-management.io/v1", {"manifests": [VOLUME]})
    token = "kubernetes:work.open-cluster-management.io/v1:ManifestWork"
    assert [each.kind for each in as_objects(token, Properties(work), "outer")] == ["ManifestWork", "PersistentVolume"]


@pytest.mark.parametrize(
    ("appliers", "severity"),
    [
        ([], Severity.ADVISORY),
        (["ClusterResourceSet", "addons.cluster.x-k8s.io/v1beta1", {"resources": [{"name": "x"}]}], Severity.ADVISORY),
        (["ClusterResourceSet", "addons.cluster.x-k8s.io/v1beta1", {"resources": [{"name": "a"}]}], Severity.MANDATORY),
        (["NodePool", "hypershift.openshift.io/v1beta1", {"config": [{"name": "a"}]}], Severity.MANDATORY),
    ],
    ids=["nothing", "another", "a set", "a pool"],
)
def test_texts_count_where_something_applies_them(appliers: list[Any], severity: Severity) -> None:
    """A manifest in the text of a ConfigMap is denied where an object applies it, and else reported."""
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"k": yaml.safe_dump(VOLUME)}}
    (finding,) = _check(config, *([_outer(*appliers)] if appliers else []))
    assert finding.severity is severity


def test_texts_within_texts_end() -> None:
    """Manifests in texts in texts are opened to a depth."""
    text = yaml.safe_dump(VOLUME)
    for number in range(40):
        head = f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a{number}}}\ndata:\n  a: |\n"
        text = head + indent(text, "    ")
    assert 0 < len(_kinds(yaml.safe_load(text))) < 40


def test_what_a_catalogue_gives_an_operator_is_not_judged() -> None:
    """The engine shows a wait for an operator's version as the whole object, which Operator Lifecycle Manager wrote."""
    install = {"spec": {"deployments": [{"name": "controller", "spec": JOB["spec"]}]}, "strategy": "deployment"}
    version = _outer("ClusterServiceVersion", "operators.coreos.com/v1alpha1", {"install": install})
    assert [each.kind for _, each in opened(Obj(version))] == ["ClusterServiceVersion", "Deployment"]
    assert [each.kind for _, each in opened(Obj(version, partial=True))] == ["ClusterServiceVersion"]
