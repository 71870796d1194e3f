"""What runs a job again, and what does not, with the real engine."""

from pathlib import Path
from typing import Any

import pytest

from components.operators.mpi_operator_generations import schema_v1alpha2
from core.apis import kinds
from core.apis.names import QUEUE_NAME
from tests.engine.kit import Cluster, Stack, wait_until

pytestmark = [pytest.mark.engine, pytest.mark.usefixtures("mpi_kind")]

ROOT = Path(__file__).parents[2]
KIND = kinds.MPI_JOB_V1ALPHA2
TODAY = kinds.MPI_JOB_V2BETA1


@pytest.fixture(scope="module")
def mpi_kind(api: Cluster) -> None:
    """Make the kind as the program declares it; no controller acts on it here."""
    body = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{KIND.plural}.{KIND.group}"},
        "spec": {
            "group": KIND.group,
            "scope": KIND.scope,
            "names": {"plural": KIND.plural, "kind": KIND.kind},
            "versions": [
                {
                    "name": KIND.version,
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": schema_v1alpha2()},
                    "subresources": {"status": {}},
                },
                {
                    "name": TODAY.version,
                    "served": True,
                    "storage": False,
                    "schema": {
                        "openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                    },
                },
            ],
        },
    }
    api.request("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", body)
    wait_until(lambda: api.get(f"/apis/{KIND.api_version}") is not None)


def job(namespace: str, name: str, **changes: Any) -> dict[str, Any]:
    """Describe a job."""
    return {
        "kind": {"group": KIND.group, "version": KIND.version, "kind": KIND.kind, "plural": KIND.plural},
        "namespace": namespace,
        "job_name": name,
        "layout": {"pods": 1, "gpus": 8},
        "processes_per_pod": 8,
        "transport": "gpudirect",
        "command": ["train"],
        "image": "train:1",
        "account": "mpi",
        "run_as": {"uid": 1000, "gid": 1000},
        "volumes": {"data": {"kind": "claim", "claim": "data"}},
        "mounts": {"/workspace": ""},
        "cpus": 9,
        "memory": "46Gi",
        "rdma_resources": ["rdma/shared_ib0"],
        "wait": "created",
        **changes,
    }


class Jobs:
    """The jobs on the cluster."""

    def __init__(self, stack: Stack, api: Cluster, namespace: str) -> None:
        self.stack, self.api, self.namespace = stack, api, namespace
        stack.use("jobs.py")

    def up(self, *jobs: dict[str, Any]) -> dict[str, str]:
        """Update to `jobs`; return the identity of each on the cluster."""
        self.stack.configure(*jobs, root=str(ROOT))
        done = self.stack.up()
        assert done.status == 0, done.text
        unchanged = self.stack.preview("--expect-no-changes", "--diff")
        assert unchanged.status == 0, unchanged.text
        return {name: self.get(name)["metadata"]["uid"] for name in (str(item["job_name"]) for item in jobs)}

    def get(self, name: str) -> Any:
        """Return a job as it is."""
        return self.api.get(f"/apis/{KIND.api_version}/namespaces/{self.namespace}/{KIND.plural}/{name}")

    def image(self, name: str) -> str:
        """Return the image of a job's workers."""
        worker = self.get(name)["spec"]["mpiReplicaSpecs"]["Worker"]["template"]["spec"]
        return str(worker["containers"][0]["image"])


@pytest.fixture
def jobs(stack: Stack, api: Cluster, namespace: str) -> Jobs:
    """Give a stack of jobs."""
    return Jobs(stack, api, namespace)


def test_run_number_and_spec_run_a_job_again_and_nothing_else_does(jobs: Jobs, namespace: str) -> None:
    """A raised run number or a changed spec replaces a job; a changed annotation replaces none."""
    first = jobs.up(job(namespace, "first"), job(namespace, "second"))

    waited = jobs.up(job(namespace, "first", timeout=60), job(namespace, "second", timeout=61))
    assert waited == first

    jobs.stack.configure(job(namespace, "first", run=2), job(namespace, "second"), root=str(ROOT))
    preview = jobs.stack.preview()
    assert preview.steps("replace") == {"first-job"}, preview.text
    again = jobs.up(job(namespace, "first", run=2), job(namespace, "second"))
    assert again["first"] != first["first"]
    assert again["second"] == first["second"], "a job that comes later was run again, too"

    changed = jobs.up(job(namespace, "first", run=2), job(namespace, "second", image="train:2"))
    assert changed["first"] == again["first"]
    assert changed["second"] != again["second"]
    assert jobs.image("second") == "train:2"


def test_kept_jobs_take_a_changed_spec_with_their_next_run(jobs: Jobs, namespace: str) -> None:
    """A kept job with a changed image goes on; its next run has the new image."""
    first = jobs.up(job(namespace, "kept", on_change="keep"))
    kept = jobs.up(job(namespace, "kept", on_change="keep", image="train:2"))
    assert kept == first
    assert jobs.image("kept") == "train:1"
    again = jobs.up(job(namespace, "kept", on_change="keep", image="train:2", run=2))
    assert again != first
    assert jobs.image("kept") == "train:2"


def queued(namespace: str, name: str, queue: str | None, **changes: Any) -> dict[str, Any]:
    """Describe a job of today that waits in a queue."""
    kind = {"group": TODAY.group, "version": TODAY.version, "kind": TODAY.kind, "plural": TODAY.plural}
    return job(namespace, name, **{"kind": kind, "v2beta1": {"queue": queue}, **changes})


def test_another_queue_runs_a_job_again_and_waits_for_the_next_run_of_a_kept_one(jobs: Jobs, namespace: str) -> None:
    """Another queue replaces a job, since Kueue refuses it in place; a kept job gets it with its next run."""
    first = jobs.up(queued(namespace, "verified", "a"), queued(namespace, "kept", "a", on_change="keep"))
    then = jobs.up(queued(namespace, "verified", "b"), queued(namespace, "kept", "b", on_change="keep"))
    assert then["verified"] != first["verified"]
    assert then["kept"] == first["kept"]
    assert jobs.get("kept")["metadata"]["labels"][QUEUE_NAME] == "a"
    last = jobs.up(queued(namespace, "verified", None), queued(namespace, "kept", "b", on_change="keep", run=2))
    assert last["verified"] != then["verified"]
    assert QUEUE_NAME not in jobs.get("verified")["metadata"]["labels"]
    assert jobs.get("kept")["metadata"]["labels"][QUEUE_NAME] == "b"


def test_a_refresh_runs_nothing_again(jobs: Jobs, namespace: str) -> None:
    """A status that the operator has written is not a change of the job."""
    first = jobs.up(job(namespace, "first"))
    status = {"status": {"conditions": [{"type": "Running", "status": "True"}]}}
    path = f"/apis/{KIND.api_version}/namespaces/{namespace}/{KIND.plural}/first/status"
    jobs.api.patch(path, status, manager="mpi-operator")
    assert jobs.stack.refresh().status == 0
    assert jobs.up(job(namespace, "first")) == first


def test_a_failed_job_stops_what_comes_after_it(jobs: Jobs, namespace: str) -> None:
    """After a failed job nothing that depends on it is created, and the message names the job."""
    jobs.up(job(namespace, "first"))
    failed = {"type": "Failed", "status": "True", "message": "the launcher has failed"}
    path = f"/apis/{KIND.api_version}/namespaces/{namespace}/{KIND.plural}/first/status"
    jobs.api.patch(path, {"status": {"conditions": [failed]}}, manager="mpi-operator")
    assert jobs.stack.refresh().status == 0

    jobs.stack.configure(job(namespace, "first"), job(namespace, "second"), root=str(ROOT))
    done = jobs.stack.up()
    assert done.status != 0
    assert f"job {namespace}/first failed: the launcher has failed" in done.text
    assert "Traceback" not in done.text
    assert jobs.get("second") is None
