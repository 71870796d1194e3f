"""Jobs of every generation, and the builds whose images they pull."""

from typing import Any

import pytest

from core.apis import kinds, names
from tests.support.messages import has
from tests.support.wait_objects import NOTHING, condition, ended, event, look, meta, pod, waits
from toolkit.cli.up.waits.rules import judge_of
from toolkit.cli.up.waits.verdict import Look, Verdict

IMAGE = "image-registry.openshift-image-registry.svc:5000/ns/train:1"


def judged(kind: kinds.Kind, status: dict[str, Any], around: Look = NOTHING, **more: Any) -> Verdict:
    """Return the verdict on job `x`."""
    job = {"kind": kind.kind, "metadata": meta("x"), "spec": {}, "status": status, **more}
    return judge_of(kind.group, kind.kind)(job, around)


def build(number: int, phase: str, **more: Any) -> dict[str, Any]:
    """Return a build of the image."""
    return {
        "metadata": meta(f"train-{number}", creationTimestamp=f"2026-11-22T10:0{number}:00Z"),
        "spec": {"output": {"to": {"kind": "ImageStreamTag", "name": "train:1"}}},
        "status": {"phase": phase, **more},
    }


@pytest.mark.parametrize("kind", [kinds.MPI_JOB_V1ALPHA2, kinds.MPI_JOB_V1, kinds.MPI_JOB_V2BETA1])
def test_mpi_jobs_by_their_conditions(kind: kinds.Kind) -> None:
    """An MPIJob is done, failed with the operator's message, suspended by a queue, or running, by its conditions."""
    assert judged(kind, {"conditions": [condition("Succeeded")]}).state == "done"
    wrong = condition("Failed", "True", "BackoffLimitExceeded", "Job has reached the specified backoff limit")
    found = judged(kind, {"conditions": [condition("Running", "False"), wrong]})
    assert found.state == "failing"
    assert has(found.message, "BackoffLimitExceeded", "Job has reached the specified backoff limit")
    queued = condition("Suspended", "True", "MPIJobSuspended", "MPIJob ns/x is suspended.")
    found = judged(kind, {"conditions": [queued]})
    assert found.state == "waiting"
    assert has(found.message, "suspended", "MPIJobSuspended", "MPIJob ns/x is suspended.")
    assert judged(kind, {"conditions": [condition("Running")]}).state == "waiting"


def test_mpi_jobs_of_v1alpha1_by_their_launcher() -> None:
    """A job without conditions, as of v1alpha1, has the state of its launcher."""
    assert judged(kinds.MPI_JOB_V2BETA1, {"launcherStatus": "Succeeded"}).state == "done"
    assert judged(kinds.MPI_JOB_V2BETA1, {"launcherStatus": "Failed"}).state == "failing"


def test_jobs_count_their_own_attempts_but_not_failed_pulls() -> None:
    """Failed pods of a job, found by the labels of every generation, are its own to count; failed pulls are not."""
    for label in ("job-name", "mpi_job_name", "training.kubeflow.org/job-name"):
        worker = pod("x-worker-0", waits("ImagePullBackOff", "no such host"), labels={label: "x"})
        found = judged(kinds.MPI_JOB_V1ALPHA2, {}, look((kinds.POD, [worker])))
        assert (found.state, found.container) == ("failing", "main"), label
        worker = pod("x-worker-0", ended(1, 5), labels={label: "x"})
        assert judged(kinds.MPI_JOB_V1ALPHA2, {}, look((kinds.POD, [worker]))).state == "waiting", label


def test_batch_jobs() -> None:
    """A Job is judged by its conditions, its suspension, and events of pods that cannot be created."""
    assert judged(kinds.JOB, {"conditions": [condition("Complete")]}).state == "done"
    wrong = condition("Failed", "True", "DeadlineExceeded", "Job was active longer than specified deadline")
    found = judged(kinds.JOB, {"conditions": [wrong]})
    assert found.state != "waiting"
    assert has(found.message, "DeadlineExceeded", "Job was active longer than specified deadline")
    found = judged(kinds.JOB, {}, spec={"suspend": True})
    assert found.state == "waiting"
    assert has(found.message, "suspended", "queue")
    found = judged(kinds.JOB, {"active": 1})
    assert found.state == "waiting"
    assert "suspended" not in found.message
    forbidden = event("x", "FailedCreate", "pods x is forbidden: no scc", kind="Job")
    assert judged(kinds.JOB, {}, look((kinds.EVENT, [forbidden]))).state == "failing"
    quota = event("x", "FailedCreate", "pods x is forbidden: exceeded quota: gpus", kind="Job")
    assert judged(kinds.JOB, {}, look((kinds.EVENT, [quota]))).state == "waiting"


@pytest.mark.parametrize(
    ("builds", "state", "parts"),
    [
        ([build(1, "Running")], "waiting", ("Build ns/train-1", "Running")),
        (
            [build(1, "Complete"), build(2, "Failed", reason="DockerBuildFailed", message="Dockerfile build failed.")],
            "failed",
            ("Build ns/train-2", "Failed", "DockerBuildFailed", "Dockerfile build failed."),
        ),
        ([build(1, "Failed"), build(2, "Complete")], "failing", ("pod ns/x-1", "container main", "ImagePullBackOff")),
        ([], "failing", ("pod ns/x-1", "container main", "ImagePullBackOff")),
    ],
)
def test_an_image_that_is_still_built_is_waited_for(
    builds: list[dict[str, Any]], state: str, parts: tuple[str, ...]
) -> None:
    """The newest build decides on a missing image; without one, or after it, the pull itself is the failure."""
    waiting = pod("x-1", {**waits("ImagePullBackOff"), "image": IMAGE}, labels={"job-name": "x"})
    found = judged(kinds.JOB, {}, look((kinds.POD, [waiting]), (kinds.BUILD, builds)))
    assert found.state == state
    assert has(found.message, *parts)


def test_builds() -> None:
    """A failed build is final, with its pod or, where that is gone, the end of its log."""
    wrong = build(1, "Failed", reason="GenericBuildFailed", logSnippet="error: exit status 1")
    assert has(judge(wrong).message, "Failed", "GenericBuildFailed", "error: exit status 1")
    mine = pod("train-1-build")
    found = judge(wrong, look((kinds.POD, [mine])))
    assert (found.state, found.pod) == ("failed", mine)
    held = build(1, "New", reason="InvalidOutputReference", message="Output image could not be resolved.")
    assert judge(held).state == "failing"
    assert judge(build(1, "Pending")).state == "waiting"
    assert judge(build(1, "Complete")).state == "done"


def judge(obj: dict[str, Any], around: Look = NOTHING) -> Verdict:
    """Return the verdict on a build."""
    return judge_of(kinds.BUILD.group, kinds.BUILD.kind)(obj, around)


def test_a_stream_is_done_by_its_tag_and_fails_by_the_newest_build_of_it() -> None:
    """An ImageStream that is waited for is done with its tag, and fails by the newest build of that tag alone."""
    judged_stream = judge_of(kinds.IMAGE_STREAM.group, kinds.IMAGE_STREAM.kind)
    stream = {"metadata": meta("train", annotations={"hpc.pulumi/awaited": "1"}), "status": {}}
    found = judged_stream(stream, NOTHING)
    assert found.state == "failing"
    assert has(found.message, "tag 1", "`oc -n ns start-build train`")
    wrong = look((kinds.BUILD, [build(1, "Complete"), build(2, "Failed", reason="PushImageToRegistryFailed")]))
    found = judged_stream(stream, wrong)
    assert found.state == "failed"
    assert has(found.message, "Build train-2", "Failed", "PushImageToRegistryFailed")
    assert judged_stream(stream, look((kinds.BUILD, [build(1, "Failed"), build(2, "Running")]))).state == "waiting"
    filled = {**stream, "status": {"tags": [{"tag": "1", "items": [{"image": "sha256:0"}]}]}}
    assert judged_stream(filled, wrong).state == "done"
    other = {**filled, "metadata": meta("train", annotations={"hpc.pulumi/awaited": "2"})}
    assert has(judged_stream(other, wrong).message, "tag 2", "`oc -n ns start-build train`")


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ({"conditions": [condition("Complete")]}, ("done", "")),
        (
            {"conditions": [condition("Failed", "True", "TrainingRuntimeNotSupported", "no such runtime")]},
            ("failing", "TrainingRuntimeNotSupported: no such runtime"),
        ),
        (
            {"conditions": [condition("Suspended", "True", "Suspended", "TrainJob is suspended")]},
            ("waiting", "suspended: its queue has not admitted it yet"),
        ),
        ({"jobsStatus": [{"name": "node", "active": 1}]}, ("waiting", "it runs")),
        ({}, ("waiting", "it has not started yet")),
    ],
)
def test_a_train_job_is_judged_by_its_conditions(status: dict[str, Any], expected: tuple[str, str]) -> None:
    """A TrainJob is done, failed with the controller's message, suspended by a queue, running or not yet."""
    found = judged(kinds.TRAIN_JOB, status)
    assert (found.state, found.message) == expected


def test_pods_are_found_by_their_jobset() -> None:
    """The JobSet has the name of the TrainJob, and the Job between them another."""
    mine = pod("x-node-0-1-abcde", waits("ImagePullBackOff", "no such host"), labels={names.JOBSET_NAME: "x"})
    found = judged(kinds.TRAIN_JOB, {}, look((kinds.POD, [mine])))
    assert (found.state, found.container) == ("failing", "main")


def test_pods_that_are_refused_are_the_jobs_of_its_jobset() -> None:
    """An SCC refuses the pods of the Job, which the JobSet owns."""
    job = {"kind": "Job", "metadata": meta("x-node-0", labels={names.JOBSET_NAME: "x"})}
    forbidden = event("x-node-0", "FailedCreate", "pods x is forbidden: no scc", kind="Job")
    found = judged(kinds.TRAIN_JOB, {}, look((kinds.JOB, [job]), (kinds.EVENT, [forbidden])))
    assert "no scc" in found.message
