"""A node's Job on a cluster: created, waited for, read, and removed whatever happens."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core.apis.kinds import NODE
from tests.support.job_api import JobApi, pod, served
from toolkit.cli.hardware import job_writer
from toolkit.cli.hardware.node_job import manifest, name
from toolkit.cli.shared.errors import Problem
from toolkit.simulator.manifests import manifest as of_kind

JOB = manifest("gpu01", image="nvcr.io/nvidia/pytorch:25.01-py3", namespace="default", gpus=8, seconds=60)
PATH = "/apis/batch/v1/namespaces/default/jobs"
OURS = [("POST", PATH), ("DELETE", f"{PATH}/{name('gpu01')}")]
FULL = {"type": "PodScheduled", "status": "False", "message": "0/3 nodes are available: 1 Insufficient nvidia.com/gpu."}
NO_IMAGE = {"state": {"waiting": {"reason": "ImagePullBackOff", "message": "not found"}}}


@pytest.fixture
def api(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[JobApi]:
    """Serve a cluster that runs the Job at once."""
    monkeypatch.setattr(job_writer, "_PAUSE", 0.01)
    monkeypatch.setattr(job_writer, "_PATIENCE", 0.05)
    with served(tmp_path, of_kind(NODE, "gpu01")) as found:
        found.pod, found.log = pod("Succeeded"), "$ lscpu\n"
        yield found


@pytest.mark.parametrize("phase", ["Succeeded", "Failed"])
def test_a_job_that_ends_gives_its_log_and_goes(api: JobApi, phase: str) -> None:
    """A Job that ends is removed and its log read, also when its last command failed."""
    api.pod = pod(phase)
    assert job_writer.printed(api.cluster, JOB, 60) == "$ lscpu\n"
    assert (api.job, api.sent) == (JOB, OURS)


@pytest.mark.parametrize(
    ("status", "reason", "remedy"),
    [
        ({"conditions": [FULL]}, "not scheduled: 0/3 nodes are available: 1 Insufficient", "omit its GPUs (--gpus 0)"),
        ({"containerStatuses": [NO_IMAGE]}, "ImagePullBackOff: not found", "Correct --image"),
    ],
)
def test_a_pod_that_cannot_start_is_not_waited_for(
    api: JobApi, status: dict[str, Any], reason: str, remedy: str
) -> None:
    """A pod that cannot start ends the wait at once, with its reason and remedy."""
    api.pod = pod("Pending", **status)
    with pytest.raises(Problem) as failed:
        job_writer.printed(api.cluster, JOB, 60)
    assert reason in str(failed.value)
    assert remedy in str(failed.value)
    assert api.sent == OURS


def test_a_job_without_a_pod_says_why_when_its_time_is_over(api: JobApi) -> None:
    """A Job without a pod ends with the reason from its events, when its time is over."""
    api.pod = None
    api.events = [{"type": "Warning", "message": "pods is forbidden: exceeded quota"}]
    with pytest.raises(Problem, match=r"has not ended after 0 s: pods is forbidden: exceeded quota\nGive it more time"):
        job_writer.printed(api.cluster, JOB, 0)
    assert api.sent == OURS


def test_an_interrupted_wait_removes_the_job(api: JobApi, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C leaves nothing on the cluster."""

    def interrupt(_: float) -> None:
        raise KeyboardInterrupt

    api.pod = pod("Running")
    monkeypatch.setattr("time.sleep", interrupt)
    with pytest.raises(KeyboardInterrupt):
        job_writer.printed(api.cluster, JOB, 60)
    assert api.sent == OURS


@pytest.mark.parametrize(
    ("refusal", "remedy"),
    [
        ((409, "already exists"), "Wait until the other discovery ends, or `oc delete job -n default hpc-discover-"),
        ((403, "may not create jobs"), "give the Job of --manifest to a user who may"),
        ((422, "image: Invalid value"), "Correct --image, --namespace or --service-account"),
    ],
)
def test_a_refused_job_is_not_removed(api: JobApi, refusal: tuple[int, str], remedy: str) -> None:
    """A Job of the same name that another user created is not removed."""
    api.refuses = refusal
    with pytest.raises(Problem) as refused:
        job_writer.printed(api.cluster, JOB, 60)
    assert f"refuses Job default/{name('gpu01')}: {refusal[1]}" in str(refused.value)
    assert remedy in str(refused.value)
    assert api.sent == OURS[:1]


def test_a_job_that_stays_is_named(api: JobApi, capsys: pytest.CaptureFixture[str]) -> None:
    """A Job that could not be removed is a warning with the command that removes it."""
    api.keeps = True
    assert job_writer.printed(api.cluster, JOB, 60) == "$ lscpu\n"
    said = capsys.readouterr().err
    assert f"Job default/{name('gpu01')} is not removed: may not delete; `oc delete job -n default" in said
