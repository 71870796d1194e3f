"""Why pods do not run, by the messages of the kubelet, the scheduler and the controllers."""

import pytest

from core.apis import kinds
from tests.support.messages import has
from tests.support.wait_objects import NOTHING, condition, ended, event, look, meta, pod, waits
from toolkit.cli.up.waits import pods, workloads

PULL = 'Back-off pulling image "quay.io/a/b:1": ErrImagePull: lookup quay.io: no such host'


@pytest.mark.parametrize(
    ("status", "state", "parts"),
    [
        (waits("ImagePullBackOff", PULL), "failing", ("ImagePullBackOff", PULL)),
        (waits("ErrImagePull", "denied"), "failing", ("ErrImagePull", "denied")),
        (waits("InvalidImageName", "bad"), "failed", ("InvalidImageName", "bad")),
        (
            waits("CreateContainerConfigError", 'secret "gui" not found'),
            "failing",
            ("CreateContainerConfigError", 'secret "gui" not found'),
        ),
        (
            ended(1, 3, "no GPU"),
            "failing",
            ("exit code 1", "3 restarts", "CrashLoopBackOff", "no GPU"),
        ),
    ],
)
def test_what_does_not_pass_by_itself_is_a_failure(
    status: dict[str, object], state: str, parts: tuple[str, ...]
) -> None:
    """A failure has the kubelet's own message, the pod and its container."""
    found = pods.trouble([pod("p", status)])
    assert found is not None
    assert (found.state, found.container) == (state, "main")
    assert has(found.message, "pod ns/p", "container main", *parts)


@pytest.mark.parametrize(
    "status",
    [
        waits("ContainerCreating"),
        waits("PodInitializing"),
        {"name": "main", "ready": False, "restartCount": 0, "state": {"running": {}}},
        {**ended(1, 2, back_off=False), "ready": True},
        {"name": "main", "ready": False, "restartCount": 0, "state": {"terminated": {"exitCode": 0}}},
    ],
)
def test_what_starts_or_has_recovered_is_none(status: dict[str, object]) -> None:
    """A container that starts, has ended well, or is ready again after restarts has no failure."""
    assert pods.trouble([pod("p", status)]) is None


def test_a_container_that_is_started_again_has_the_same_failure() -> None:
    """The key of a failure does not change while restarts are counted, or the message with them."""
    first, again = (pods.trouble([pod("p", ended(1, n, back_off=n % 2 == 0), owner="set-uid")]) for n in (2, 3))
    assert first is not None
    assert again is not None
    assert first.message != again.message
    assert first.key == again.key == "set main ends"


def test_a_job_counts_its_own_attempts() -> None:
    """A job's failed containers are left to its backoffLimit; an image that cannot be pulled is a failure."""
    assert pods.trouble([pod("p", ended(1, 3))], restarts=False) is None
    assert pods.trouble([pod("p", waits("ErrImagePull"))], restarts=False) is not None


def test_a_pod_that_waits_says_why() -> None:
    """A pod's reason is the scheduler's, else the newest event about volumes, sandbox or pull, else the container's."""
    unscheduled = pod("a")
    unscheduled["status"]["conditions"] = [condition("PodScheduled", "False", "Unschedulable", "0/4 nodes: gpu")]
    text = pods.progress([unscheduled, pod("b", waits("ContainerCreating"))], NOTHING)
    assert has(text, "pod a", "1 more", "0/4 nodes: gpu")
    pulling = look((kinds.EVENT, [event("b", "Pulling", 'Pulling image "x"'), event("c", "FailedMount", "other")]))
    assert has(pods.progress([pod("b", waits("ContainerCreating"))], pulling), "pod b", 'Pulling image "x"')
    text = pods.progress([pod("b", waits("ContainerCreating"))], NOTHING)
    assert has(text, "pod b", "container main", "ContainerCreating")
    ready = pod("d")
    ready["status"]["conditions"] = [condition("Ready")]
    assert pods.progress([ready], NOTHING) == ""


DAEMON_SET = {
    "kind": "DaemonSet",
    "metadata": meta("plugin", generation=2, annotations={"deprecated.daemonset.template.generation": "2"}),
    "status": {"desiredNumberScheduled": 2, "numberReady": 1, "observedGeneration": 2},
}


def test_pods_of_an_earlier_template_are_not_judged() -> None:
    """Pods of an earlier template are not judged where they are about to be replaced; with OnDelete they stay."""
    old = pod("old", ended(1, 9), owner="plugin-uid", labels={"pod-template-generation": "1"})
    new = pod("new", waits("ContainerCreating"), owner="plugin-uid", labels={"pod-template-generation": "2"})
    found = workloads.verdict(DAEMON_SET, look((kinds.POD, [old, new])))
    assert found.state == "waiting"
    assert has(found.message, "1 of 2 pods", "1 of an earlier template are being replaced", "pod new", "container main")
    assert "pod old" not in found.message
    on_delete = {**DAEMON_SET, "spec": {"updateStrategy": {"type": "OnDelete"}}}
    found = workloads.verdict(on_delete, look((kinds.POD, [old, new])))
    assert found.state == "failing"
    assert has(found.message, "pod ns/old", "exit code 1", "9 restarts")
    assert workloads.verdict(DAEMON_SET, look((kinds.POD, [{**old, "metadata": new["metadata"]}]))).state == "failing"


def test_a_deployment_is_judged_by_its_newest_replica_set() -> None:
    """A Deployment's progress deadline, and refused pods, count when no pod has a failure."""
    deployment = {"kind": "Deployment", "metadata": meta("manager"), "spec": {"replicas": 1}, "status": {}}
    revision = "deployment.kubernetes.io/revision"
    sets = [
        {"metadata": meta(name, owner="manager-uid", annotations={revision: number})}
        for name, number in (("r9", "9"), ("r10", "10"))
    ]
    old, new = pod("a", ended(1, 5), owner="r9-uid"), pod("b", waits("ContainerCreating"), owner="r10-uid")
    around = look((kinds.REPLICA_SET, sets), (kinds.POD, [old, new]))
    assert has(workloads.verdict(deployment, around).message, "0 of 1 pods", "pod b")
    late = condition("Progressing", "False", "ProgressDeadlineExceeded", 'ReplicaSet "r10" has timed out progressing.')
    found = workloads.verdict({**deployment, "status": {"conditions": [late]}}, around)
    assert has(found.message, "ProgressDeadlineExceeded", 'ReplicaSet "r10" has timed out progressing.')
    refused = condition(
        "ReplicaFailure", "True", "FailedCreate", "pods is forbidden: unable to validate against any scc"
    )
    found = workloads.verdict({**deployment, "status": {"conditions": [refused]}}, NOTHING)
    assert (found.state, found.key) == ("failing", "ReplicaFailure")
    full = condition("ReplicaFailure", "True", "FailedCreate", "pods is forbidden: exceeded quota: gpus")
    assert workloads.verdict({**deployment, "status": {"conditions": [full]}}, NOTHING).state == "waiting"


def test_pods_that_a_controller_cannot_make_are_known_by_events_until_one_is_made() -> None:
    """Pods that a DaemonSet cannot create are a failure, by its events, until it has created one."""
    bad = event("plugin", "FailedCreate", "pods is forbidden: no scc", "2026-11-22T10:00:00Z", "DaemonSet")
    good = event("plugin", "SuccessfulCreate", "created", "2026-11-22T10:01:00Z", "DaemonSet")
    assert has(workloads.verdict(DAEMON_SET, look((kinds.EVENT, [bad]))).message, "DaemonSet plugin", "no scc")
    assert workloads.verdict(DAEMON_SET, look((kinds.EVENT, [bad, good]))).state == "waiting"


def test_a_workload_that_has_its_pods_is_done() -> None:
    """A workload with all pods is done once its controller has observed its present generation."""
    status = {"desiredNumberScheduled": 2, "numberReady": 2}
    assert workloads.verdict({**DAEMON_SET, "status": {**status, "observedGeneration": 2}}, NOTHING).state == "done"
    assert workloads.verdict({**DAEMON_SET, "status": {**status, "observedGeneration": 1}}, NOTHING).state == "waiting"
