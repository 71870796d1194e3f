"""Pods in objects of unknown kinds, in typed lists and in Templates."""

from typing import Any

import pytest

from core.apis.kinds import CUSTOM_RESOURCE_DEFINITION
from policies.check import Checker
from policies.findings import Finding, Undetermined
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj, items
from policies.manifests.templates import process
from policies.manifests.values import Tree, Unknown, read, show
from tests.policies.conftest import rule_named

CONTAINER: dict[str, Any] = {"name": "c", "image": "x", "securityContext": {"privileged": True}}
SPEC: dict[str, Any] = {"hostPID": True, "containers": [CONTAINER]}
TEMPLATE: dict[str, Any] = {"spec": SPEC}


def _custom(spec: Tree, kind: str = "Unheard", group: str = "example.com") -> dict[str, Any]:
    return {"apiVersion": f"{group}/v1", "kind": kind, "metadata": {"name": "x", "namespace": "a"}, "spec": spec}


def _check(manifest: Tree) -> list[Finding]:
    checker = Checker([rule_named(name) for name in ("no-host-namespaces", "not-privileged")])
    found = [Obj(item) for _, item in items(manifest)]
    return list(checker.check(found, Inventory(found)))


@pytest.mark.parametrize(
    ("manifest", "place"),
    [
        (
            _custom({"pytorchReplicaSpecs": {"Worker": {"template": TEMPLATE}}}),
            "spec.pytorchReplicaSpecs.Worker.template.spec",
        ),
        (_custom({"headGroupSpec": {"template": TEMPLATE}}), "spec.headGroupSpec.template.spec"),
        (
            _custom({"replicatedJobs": [{"template": {"spec": {"template": TEMPLATE}}}]}),
            "spec.replicatedJobs[0].template.spec.template.spec",
        ),
        (_custom({"tasks": [{"name": "w"}, {"template": TEMPLATE}]}, "Job"), "spec.tasks[1].template.spec"),
        (_custom({"podTemplate": TEMPLATE}), "spec.podTemplate.spec"),
        (_custom({"worker": {"podSpec": SPEC}}), "spec.worker.podSpec"),
        (_custom({"manifests": [{"kind": "Pod", **TEMPLATE}]}), "spec.manifests[0].spec"),
        (_custom(SPEC, "PodDefault", "kubeflow.org"), "spec"),
    ],
    ids=["by roles", "by groups", "a job in a job", "a list", "podTemplate", "podSpec", "a pod within", "a PodDefault"],
)
def test_unknown_kinds_are_searched(manifest: Tree, place: str) -> None:
    """A privileged pod in a custom resource of an unknown kind is found, with its field."""
    assert [(finding.rule, show(finding.path)) for finding in _check(manifest)] == [
        ("no-host-namespaces", f"{place}.hostPID"),
        ("not-privileged", f"{place}.containers[0].securityContext.privileged"),
    ]


def test_steps_are_pods() -> None:
    """The one container of a workflow's step is examined."""
    step = {"name": "x", "container": {key: value for key, value in CONTAINER.items() if key != "name"}}
    (finding,) = _check(_custom({"templates": [step, {"steps": [[{"template": "x"}]]}]}, "Workflow"))
    assert (finding.container, show(finding.path)) == (
        "main",
        "spec.templates[0].container.securityContext.privileged",
    )
    (finding,) = _check(_custom({"steps": [CONTAINER]}, "Task"))
    assert show(finding.path) == "spec.steps[0].securityContext.privileged"


@pytest.mark.parametrize("image", ["{{inputs.parameters.image}}", "$(params.image)", "quay.io/a/b:{{x}}"])
def test_images_of_each_run_are_doubts(image: str) -> None:
    """An image that a workflow's parameter fills in is undetermined."""
    for spec in ({"templates": [{"container": {"image": image}}]}, {"steps": [{"name": "x", "image": image}]}):
        subject = Obj(_custom(spec, "Workflow"))
        found = list(Checker([rule_named("image-pinned")]).check([subject], Inventory([subject])))
        assert [finding.undetermined for finding in found] == [Undetermined.VALUE]


@pytest.mark.parametrize(
    "manifest",
    [
        _custom({"containers": {"template": {"spec": {"containers": {"type": "array"}}}}}),
        _custom({"versions": [{"schema": {"openAPIV3Schema": {"template": TEMPLATE}}}]}),
        _custom({"x": {"template": TEMPLATE}}, CUSTOM_RESOURCE_DEFINITION.kind, CUSTOM_RESOURCE_DEFINITION.group),
        _custom({"rules": [{"validate": {"pattern": {"spec": {"template": TEMPLATE}}}}]}),
        _custom({"template": {"spec": {"containers": ["c", None, {"resources": {}}]}}}),
        {**_custom({}), "status": {"template": TEMPLATE}},
    ],
    ids=["a mapping", "a schema", "a definition", "a pattern", "no containers", "status"],
)
def test_what_makes_no_pods_is_left_out(manifest: Tree) -> None:
    """Schemas and patterns that look like pods are not examined."""
    assert _check(manifest) == []


def test_a_search_ends() -> None:
    """Deep or large objects of unknown kinds are searched within bounds."""
    deep: Tree = {"template": TEMPLATE}
    for _ in range(5000):
        deep = {"a": deep}
    assert _check(_custom(deep)) == []
    assert len(Obj(_custom([{"template": TEMPLATE}] * 5000)).pods) == 1000


def test_unknown_containers_are_a_doubt() -> None:
    """Containers that are unknown until the update are undetermined."""
    hidden = Unknown(("spec", "template", "spec", "containers"))
    subject = Obj(_custom({"template": {"spec": {"containers": hidden}}}), unknown=(hidden,))
    (finding,) = Checker([rule_named("not-privileged")]).check([subject], Inventory([subject]))
    assert finding.undetermined is not None


def test_items_of_a_typed_list() -> None:
    """Items of a PodList without kind are pods."""
    found = _check({"apiVersion": "v1", "kind": "PodList", "items": [{"metadata": {"name": "x"}, "spec": SPEC}]})
    assert {(finding.object, finding.path[0]) for finding in found} == {("Pod x", "spec")}
    assert [item for _, item in items({"apiVersion": "v1", "kind": "List", "items": [{"a": 1}]})] == [{"a": 1}]


def test_a_template_is_opened() -> None:
    """Objects of a Template are examined; what its parameters fill in is unknown."""
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "${NAME}-x"}, "spec": SPEC}
    template = {"apiVersion": "template.openshift.io/v1", "kind": "Template", "objects": [pod]}
    assert [finding.object for finding in _check(template)] == ["Pod ${NAME}-x", "Pod ${NAME}-x"]
    tree, unknown = process({"a": "${A}-x", "b": ["${B}"], "c": "${{A}}", "d": "$A"}, [{"name": "A", "value": "v"}])
    assert (tree["a"], tree["d"]) == ("v-x", "$A")
    assert [show(each.path) for each in unknown] == ["b[0]", "c"]
    assert all(isinstance(read(tree, *each.path), Unknown) for each in unknown)
    assert process({"a": "${A}"}, [None, {"name": 1}, "A"])[1] != ()
