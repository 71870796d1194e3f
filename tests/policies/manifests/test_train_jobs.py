"""TrainJobs with the runtime that they name: what their pods have, and what rules say where it is not at hand."""

from typing import Any

from policies.check import Checker
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.rule import Undetermined

API = "trainer.kubeflow.org/v1alpha1"
STEP = {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}


def _runtime(pod: dict[str, Any], name: str = "torch", job: str = "node", **more: Any) -> Obj:
    template = {"metadata": {"labels": STEP}, "spec": {"template": {"spec": pod}}}
    spec = {"mlPolicy": {"torch": {}}, "template": {"spec": {"replicatedJobs": [{"name": job, "template": template}]}}}
    return Obj({"apiVersion": API, "kind": "ClusterTrainingRuntime", "metadata": {"name": name, **more}, "spec": spec})


def _job(**spec: Any) -> Obj:
    spec = {"runtimeRef": {"name": "torch"}, **spec}
    return Obj({"apiVersion": API, "kind": "TrainJob", "metadata": {"name": "j", "namespace": "adas"}, "spec": spec})


NODE: dict[str, Any] = {
    "name": "node",
    "image": "example/a",
    "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "1"}],
    "resources": {"limits": {"nvidia.com/gpu": 4, "memory": "1Gi"}},
    "volumeMounts": [{"mountPath": "/cache", "name": "cache"}],
}
POD: dict[str, Any] = {
    "serviceAccountName": "trainer",
    "containers": [{"name": "side", "image": "example/side"}, NODE],
    "volumes": [{"name": "cache", "emptyDir": {"medium": "Memory"}}],
}


def test_a_train_job_has_the_pod_of_its_runtime_with_its_own_fields_over_it() -> None:
    """Image and command are the job's, variables and resources are merged, volumes of a patch are added."""
    pod_patch = {"volumes": [{"name": "data", "emptyDir": {}}], "containers": [{"name": "node", "tty": True}]}
    patch = {"name": "node", "template": {"spec": {"template": {"spec": pod_patch}}}}
    job = _job(
        trainer={
            "image": "example/b",
            "env": [{"name": "B", "value": "2"}],
            "resourcesPerNode": {"limits": {"memory": "2Gi"}},
        },
        runtimePatches=[{"trainingRuntimeSpec": {"template": {"spec": {"replicatedJobs": [patch]}}}}],
    )
    (pod,) = Inventory([job, _runtime(POD)]).completed(job).pods
    node, side = pod.containers
    assert pod.service_account == "trainer"
    assert [volume["name"] for volume in pod.entries("volumes")] == ["cache", "data"]
    assert (node.text("image"), side.text("image"), node.read("tty")) == ("example/b", "example/side", True)
    assert node.entries("env") == [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]
    assert node.mapping("resources", "limits") == {"nvidia.com/gpu": 4, "memory": "2Gi"}


def test_overrides_of_earlier_versions_are_merged() -> None:
    """What patches were called before is put over the runtime, too, for the job that it names."""
    overrides = [
        {"targetJobs": [{"name": "node"}], "spec": {"serviceAccountName": "own"}},
        {"targetJobs": [{"name": "other"}], "spec": {"serviceAccountName": "others"}},
    ]
    job = _job(podTemplateOverrides=overrides)
    assert Inventory([job, _runtime(POD)]).completed(job).pods[0].service_account == "own"


def test_the_job_that_trains_has_a_label() -> None:
    """The job of a runtime is found by its label, whatever it is called, and a runtime by kind and name."""
    job = _job()
    found = Inventory([job, _runtime({}, "other"), _runtime(POD, job="workers")]).completed(job)
    assert found.pods[0].containers[0].text("image") == "example/a"
    namespaced = _job(runtimeRef={"name": "torch", "kind": "TrainingRuntime"})
    assert not Inventory([namespaced, _runtime(POD)]).completed(namespaced).pods


def test_a_runtime_elsewhere_is_named_once_by_each_rule() -> None:
    """A rule that needs what the runtime decides names the runtime, however many of its fields it needs."""
    job = _job(trainer={"command": ["torchrun", "train.py"]})
    inventory = Inventory([job])
    found = [each for each in Checker().check([job], inventory) if each.undetermined]
    assert len({each.rule for each in found}) == len(found) > 5
    assert {(each.undetermined, each.path) for each in found} == {(Undetermined.LINK, ("spec", "runtimeRef"))}
    (message,) = {each.message.partition(": ")[2] for each in found}
    assert message == "ClusterTrainingRuntime torch, which is not among the objects, decides part of its pods"
