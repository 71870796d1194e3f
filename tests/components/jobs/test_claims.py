"""Pods that get their GPUs by claims, and jobs in a ComputeDomain."""

from typing import Any

import pytest

from components.jobs import gpu_job as gpu_jobs
from components.jobs import mpi_job as mpi_jobs
from components.jobs import torch_job as torch_jobs
from components.jobs import train_job as train_jobs
from components.jobs.mpi_job import MpiJob
from components.jobs.train_job import TrainJob
from tests.components import kit
from tests.conformance.schema import expect_conformity
from tests.support.declared import declared, only

CLAIM = {"gpu_claim": "gpus-8"}
ENTRY = [{"name": "gpus", "resourceClaimTemplateName": "gpus-8"}]
PODS: dict[str, Any] = {
    "mpi": mpi_jobs.spec(kit.mpi_job_v2beta1(**CLAIM))["mpiReplicaSpecs"]["Worker"]["template"]["spec"],
    "torch": torch_jobs.spec(kit.torch_job(**CLAIM))["template"]["spec"],
    "job": gpu_jobs.spec(kit.gpu_job(**CLAIM))["template"]["spec"],
}


@pytest.mark.parametrize("pod", PODS.values(), ids=PODS)
def test_a_pod_claims_its_gpus_and_requests_none(pod: dict[str, Any]) -> None:
    """The pod names the template of its number, its container the claim; nothing asks the device plugin."""
    (container,) = pod["containers"]
    assert pod["resourceClaims"] == ENTRY
    assert container["resources"]["claims"] == [{"name": "gpus"}]
    assert "nvidia.com/gpu" not in container["resources"]["limits"]


def test_a_launcher_claims_nothing() -> None:
    """It has no GPU."""
    launcher = mpi_jobs.spec(kit.mpi_job_v2beta1(**CLAIM))["mpiReplicaSpecs"]["Launcher"]["template"]["spec"]
    assert "resourceClaims" not in launcher
    assert all("claims" not in container["resources"] for container in launcher["containers"])


def test_a_train_job_has_its_claims_in_a_runtime_of_its_own() -> None:
    """A patch of a runtime cannot have claims, so the job names a TrainingRuntime that does."""
    made = declared(lambda: TrainJob("job", kit.train_job(**CLAIM, compute_domain=True), lambda *_: ""))
    job, runtime = only(made, "TrainJob"), only(made, "TrainingRuntime")
    expect_conformity(job)
    expect_conformity(runtime)
    assert job["spec"]["runtimeRef"]["kind"] == "TrainingRuntime"
    assert "resourceClaims" not in str(job["spec"]["runtimePatches"])
    assert job["spec"]["trainer"]["resourcesPerNode"]["claims"] == [{"name": "gpus"}, {"name": "channel"}]
    (of_job,) = runtime["spec"]["template"]["spec"]["replicatedJobs"]
    channel = {"name": "channel", "resourceClaimTemplateName": f"{job['metadata']['name']}-channel"}
    assert of_job["template"]["spec"]["template"]["spec"]["resourceClaims"] == [*ENTRY, channel]
    assert not train_jobs.has_own_runtime(kit.train_job())


def test_a_job_on_a_rack_has_a_domain_of_its_own() -> None:
    """The domain is made before the job, and its channel is claimed by the workers."""
    args = kit.mpi_job_v2beta1(compute_domain=True)
    made = declared(lambda: MpiJob("job", args, lambda *_: ""))
    domain, job = only(made, "ComputeDomain"), only(made, "MPIJob")
    expect_conformity(domain)
    assert domain["metadata"]["name"] == job["metadata"]["name"]
    worker = job["spec"]["mpiReplicaSpecs"]["Worker"]["template"]["spec"]
    template = domain["spec"]["channel"]["resourceClaimTemplate"]["name"]
    assert worker["resourceClaims"] == [{"name": "channel", "resourceClaimTemplateName": template}]
