"""Where objects have pods, those of unknown kinds and of virtual machines among them, and how links look objects up."""

from typing import Any

import pytest

from core.apis.kinds import CONFIG_MAP, CUSTOM_RESOURCE_DEFINITION, RESOURCE_FLAVOR
from policies.check import Checker
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj, items
from policies.manifests.templates import process
from policies.manifests.values import Tree, Unknown, read, show
from policies.rule import Finding, Undetermined
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


def _machine(**spec: Any) -> Obj:
    content = {"runStrategy": "Always", "template": {"spec": spec}}
    return Obj({"apiVersion": "kubevirt.io/v1", "kind": "VirtualMachine", "metadata": {"name": "a"}, "spec": content})


def test_devices_are_requests() -> None:
    """Each device of a machine is one unit of its resource, beside what its domain requests."""
    devices = {
        "gpus": [{"deviceName": "nvidia.com/A"}, {"deviceName": "nvidia.com/A"}, {"claimName": "c"}],
        "hostDevices": [{"deviceName": "nvidia.com/B"}],
    }
    (pod,) = _machine(domain={"devices": devices, "resources": {"limits": {"nvidia.com/C": 1}}}).pods
    counts = {item.resource: item.count for item in pod.containers[0].requests if "/" in item.resource}
    assert counts == {"nvidia.com/A": 2, "nvidia.com/B": 1, "nvidia.com/C": 1}


def test_an_ordinary_machine_is_sound() -> None:
    """A machine without devices of its node has no finding of any rule."""
    machine = _machine(
        domain={"devices": {"disks": [{"name": "a", "disk": {"bus": "virtio"}}]}, "memory": {"guest": "4Gi"}},
        volumes=[{"name": "a", "persistentVolumeClaim": {"claimName": "a"}}],
        networks=[{"name": "default", "pod": {}}],
    )
    assert [*Checker().check([machine], Inventory([machine]))] == []


def test_odd_machines_raise_nothing() -> None:
    """Fields of other types than KubeVirt has make no pod, or one without devices."""
    odd: tuple[Any, ...] = (1, [], {}, {"gpus": 1}, {"gpus": [None, {"deviceName": 3}]})
    for value in odd:
        machine = _machine(domain={"devices": value}, volumes=value, networks=value)
        list(Checker().check([machine], Inventory([machine])))
    assert Obj({"apiVersion": "kubevirt.io/v1", "kind": "VirtualMachine", "spec": {"template": 1}}).pods == ()


def _object(version: str, kind: str, **metadata: Any) -> Obj:
    return Obj({"apiVersion": version, "kind": kind, "metadata": metadata})


def test_the_name_alone_decides_for_kinds_without_namespaces() -> None:
    """A preview without the kind's definition shows the object in a namespace, and links to it hold all the same."""
    flavor = _object("kueue.x-k8s.io/v1beta2", "ResourceFlavor", name="dgx", namespace="default")
    config = _object("v1", "ConfigMap", name="dgx", namespace="default")
    inventory = Inventory([flavor, config])
    assert inventory.get(RESOURCE_FLAVOR, "dgx") is flavor
    assert inventory.get(RESOURCE_FLAVOR, "other") is None
    assert inventory.get(CONFIG_MAP, "dgx") is None
    assert inventory.get(CONFIG_MAP, "dgx", "default") is config
