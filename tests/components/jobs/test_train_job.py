"""A PyTorch job as a TrainJob, its runtime, and the controller of both."""

from typing import Any

import pytest
from pydantic import ValidationError

from components.jobs.torch_job import spec as indexed_job
from components.jobs.train_job import TrainingRuntime, TrainingRuntimeArgs, TrainJob, command, spec
from components.operators.trainer import Trainer, TrainerArgs
from components.operators.trainer_parts import CONFIGURATION, KINDS
from core.apis import names, trainer
from core.apis.topology import PREFERRED, REQUIRED
from tests.components.kit import torch_job
from tests.components.kit import train_job as arguments
from tests.conformance.schema import expect_conformity
from tests.support.declared import Manifest, declared, faults, only

IMAGE = "ghcr.io/kubeflow/trainer/trainer-controller-manager:v2.2.1"
ROCE = {"roce_ports": ("mlx5_0", "mlx5_1")}


def train_job(**changes: Any) -> Manifest:
    """Return the TrainJob; the policies have no finding about it."""
    found = declared(lambda: TrainJob("job", arguments(**changes), lambda *_: ""))
    assert faults(found) == []
    return only(found, "TrainJob")


def runtime() -> Manifest:
    """Return the runtime."""
    found = declared(lambda: TrainingRuntime("runtime", TrainingRuntimeArgs()))
    assert faults(found) == []
    return only(found, "ClusterTrainingRuntime")


@pytest.mark.parametrize("count", [False, True])
def test_a_job_that_restarts_all_has_a_runtime_of_its_own(count: bool) -> None:
    """JobSet's failurePolicy is the runtime's; torchrun restarts nothing then, and a disruption costs no restart."""
    own = {"restart": "all", "limit": 3, "count_disruptions": count}
    found = declared(lambda: TrainJob("job", arguments(resilience=own, shm="1Gi"), lambda *_: ""))
    assert faults(found) == []
    job, declared_runtime = only(found, "TrainJob"), only(found, "TrainingRuntime")
    expect_conformity(job, declared_runtime)
    place = ("namespace", "name")
    assert [declared_runtime["metadata"][part] for part in place] == [job["metadata"][part] for part in place]
    assert job["spec"]["runtimeRef"] == {
        "apiGroup": "trainer.kubeflow.org",
        "kind": "TrainingRuntime",
        "name": "train-02x08",
    }
    assert not [entry for entry in job["spec"]["trainer"]["env"] if entry["name"] == "PET_MAX_RESTARTS"]
    job_set = declared_runtime["spec"]["template"]["spec"]
    assert job_set["failurePolicy"]["maxRestarts"] == 3
    job_spec = job_set["replicatedJobs"][0]["template"]["spec"]
    assert ("rules" in job_set["failurePolicy"], "podFailurePolicy" in job_spec) == (not count, not count)


def test_its_pods_request_the_level_of_the_fabric() -> None:
    """The patch of the pod template has Kueue's annotation, as the template of an Indexed Job has."""
    leaf = "network.topology.nvidia.com/leaf"
    for field, annotation in (("required_topology", REQUIRED), ("preferred_topology", PREFERRED)):
        job = train_job(**{field: leaf})
        expect_conformity(job)
        (patch,) = job["spec"]["runtimePatches"]
        (patched,) = patch["trainingRuntimeSpec"]["template"]["spec"]["replicatedJobs"]
        indexed = indexed_job(torch_job(**{field: leaf}))
        for template in (patched["template"]["spec"]["template"], indexed["template"]):
            assert template["metadata"]["annotations"] == {annotation: leaf}
    with pytest.raises(ValidationError, match=f"preferred_topology {leaf}: required_topology is given; leave it out"):
        arguments(required_topology=leaf, preferred_topology=leaf)


def pod(**changes: Any) -> dict[str, Any]:
    """Return the patch of the pod's spec."""
    (patch,) = spec(arguments(**changes))["runtimePatches"]
    (job,) = patch["trainingRuntimeSpec"]["template"]["spec"]["replicatedJobs"]
    found: dict[str, Any] = job["template"]["spec"]["template"]["spec"]
    return found


@pytest.mark.parametrize(
    "changes",
    [
        {},
        ROCE,
        {"transport": "tcp", "rdma_resources": ()},
        {"node": "dgx01", "working_directory": "/work", "queue": "q"},
    ],
)
def test_they_have_the_shape_of_their_definitions(changes: dict[str, Any]) -> None:
    """Fields that a patch cannot have are refused by the API server, e.g. resources or a priority class."""
    expect_conformity(train_job(**changes), runtime())


def test_it_is_the_indexed_jobs_pod() -> None:
    """Patch, trainer and runtime together have what the pod of the Indexed Job has."""
    wanted = indexed_job(torch_job())["template"]["spec"]
    (container,) = wanted["containers"]
    started, patch = spec(arguments())["trainer"], pod()
    (node,) = patch["containers"]
    template = runtime()["spec"]["template"]["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
    fixed = {"subdomain"}
    for field in wanted.keys() - fixed - {"containers"}:
        assert patch.get(field, template.get(field)) == wanted[field], field
    assert (started["image"], started["command"], started["resourcesPerNode"]) == (
        container["image"],
        container["command"],
        container["resources"],
    )
    assert (node["securityContext"], node["volumeMounts"]) == (container["securityContext"], container["volumeMounts"])
    own = [each for each in container["env"] if not each["name"].startswith("PET_")]
    assert started["env"] == own
    assert (started["numNodes"], started["numProcPerNode"]) == (2, 8)


def test_the_runtime_finds_what_a_train_job_patches() -> None:
    """The controller injects torchrun's variables into the container of this name in the job with this label."""
    (job,) = runtime()["spec"]["template"]["spec"]["replicatedJobs"]
    assert (job["name"], job["replicas"]) == ("node", 1)
    assert job["template"]["metadata"]["labels"] == {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}
    assert [each["name"] for each in job["template"]["spec"]["template"]["spec"]["containers"]] == ["node"]
    assert runtime()["spec"]["mlPolicy"]["torch"] == {}
    assert runtime()["metadata"]["name"] == arguments().runtime == spec(arguments())["runtimeRef"]["name"]


def test_variables_of_torchrun_are_the_controllers() -> None:
    """It refuses a TrainJob that sets one, and sets none where `trainer` is missing."""
    assert not trainer.VARIABLES & {each["name"] for each in spec(arguments())["trainer"]["env"]}
    for name in trainer.VARIABLES:
        with pytest.raises(ValidationError, match=f"environment: {name}=1 would override"):
            arguments(environment={name: "1"})


def test_a_folder_to_run_in() -> None:
    """A TrainJob has no field for it."""
    assert command(arguments()) == ["torchrun", "train.py", "--epochs=1"]
    assert command(arguments(working_directory="/work")) == [
        "/bin/sh",
        "-c",
        "cd /work&&exec torchrun train.py --epochs=1",
    ]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"job_name": "a" * 49}, r"job_name: a{49}-node-0-1-abcde must be a DNS-1035 label.*to 48 characters"),
        ({"job_name": "2-train"}, "job_name: 2-train-node-0-1-abcde must be .* start it with a letter"),
        ({"priority_class": "urgent"}, "priority urgent: a TrainJob cannot .*; leave it out, or set `trainer: none`"),
        ({"port": 29501}, "port 29501: Kubeflow Trainer uses 29500; leave it out"),
    ],
)
def test_what_fails_at_admission_only_is_refused(changes: dict[str, Any], expected: str) -> None:
    """The TrainJob would be taken, and its JobSet refused with an event."""
    with pytest.raises(ValidationError, match=expected):
        arguments(**changes)
    assert arguments(job_name="a" * 48)


def test_an_update_waits_for_its_end_or_its_start() -> None:
    """It has conditions of its end, and counts the pods that run."""
    finished, started = (
        train_job(wait=wait)["metadata"]["annotations"][names.WAIT_FOR] for wait in ("finished", "started")
    )
    assert '@.type=="Complete" || @.type=="Failed"' in finished
    assert started == "jsonpath={.status.jobsStatus[?(@.active > 0 || @.succeeded > 0 || @.failed > 0)].name}"


def controller() -> list[Manifest]:
    """Return what installs the controller; the policies have no finding about it."""
    found = declared(lambda: Trainer("trainer", TrainerArgs(image=IMAGE)))
    assert faults(found) == []
    return found


def test_certificates_are_openshifts() -> None:
    """The Secret that the Service gets is the one that the pod mounts where the controller looks."""
    found = controller()
    (secret,) = (
        each["secret"]["secretName"]
        for each in only(found, "Deployment")["spec"]["template"]["spec"]["volumes"]
        if "secret" in each
    )
    assert only(found, "Service")["metadata"]["annotations"][names.SERVING_CERTIFICATES] == secret
    assert CONFIGURATION["certManagement"] == {"enable": False}
    for kind in ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"):
        marks = only(found, kind)["metadata"]["annotations"]
        assert marks[names.INJECT_CA] == "true"
        assert marks[names.WAIT_FOR] == "jsonpath={.webhooks[0].clientConfig.caBundle}"


def test_the_election_has_its_times() -> None:
    """The controller has no defaults for them, and ends where a lease is not longer than its renewal."""
    election = CONFIGURATION["leaderElection"]
    seconds = [int(election[name].removesuffix("s")) for name in ("leaseDuration", "renewDeadline", "retryPeriod")]
    assert seconds == sorted(seconds, reverse=True)
    assert election["resourceLock"] == "leases"


def test_webhooks_call_the_service_at_the_controllers_paths() -> None:
    """Path and name are upstream's, which the controller registers."""
    found = controller()
    service = only(found, "Service")["metadata"]
    hooks = [
        each
        for kind in ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")
        for each in only(found, kind)["webhooks"]
    ]
    assert {each["name"]: each["clientConfig"]["service"]["path"] for each in hooks} == {
        "defaulter.trainjob.trainer.kubeflow.org": "/mutate-trainer-kubeflow-org-v1alpha1-trainjob",
        **{
            f"validator.{kind.kind.lower()}.trainer.kubeflow.org": (
                f"/validate-trainer-kubeflow-org-v1alpha1-{kind.kind.lower()}"
            )
            for kind in KINDS
        },
    }
    for each in hooks:
        where = each["clientConfig"]["service"]
        assert (where["namespace"], where["name"]) == (service["namespace"], service["name"])


def test_ports_are_refused_and_restarts_are_torchruns() -> None:
    """A patch of the runtime has no field for ports; the variable of restarts is not the controller's."""
    with pytest.raises(ValidationError, match=r"ports metrics: a TrainJob cannot .*; leave them out"):
        arguments(ports={"metrics": 9100})
    found = train_job(resilience={"limit": 2}, further={"ephemeral-storage": "200Gi"})["spec"]["trainer"]
    assert {"name": "PET_MAX_RESTARTS", "value": "2"} in found["env"]
    (endpoint,) = [entry["value"] for entry in found["env"] if entry["name"] == "PET_RDZV_ENDPOINT"]
    assert endpoint == "train-02x08-node-0-0.train-02x08.adas.svc.cluster.local:29500"
    assert found["resourcesPerNode"]["limits"]["ephemeral-storage"] == "200Gi"
