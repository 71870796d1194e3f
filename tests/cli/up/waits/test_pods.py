"""What keeps pods from working, in the words of the kubelet, the scheduler and the controllers."""

import pytest

from apis import kinds
from cli.up.waits import pods, workloads
from tests.support.awaited import NOTHING, condition, ended, event, look, meta, pod, waits

PULL = 'Back-off pulling image "quay.io/a/b:1": ErrImagePull: lookup quay.io: no such host'


@pytest.mark.parametrize(
    ("status", "state", "message"),
    [
        (waits("ImagePullBackOff", PULL), "failing", f"pod ns/p, container main: ImagePullBackOff: {PULL}"),
        (waits("ErrImagePull", "denied"), "failing", "pod ns/p, container main: ErrImagePull: denied"),
        (waits("InvalidImageName", "bad"), "failed", "pod ns/p, container main: InvalidImageName: bad"),
        (
            waits("CreateContainerConfigError", 'secret "gui" not found'),
            "failing",
            'pod ns/p, container main: CreateContainerConfigError: secret "gui" not found',
        ),
        (
            ended(1, 3, "no GPU"),
            "failing",
            "pod ns/p, container main ended with exit code 1, 3 restarts (CrashLoopBackOff): no GPU",
        ),
    ],
)
def test_what_does_not_pass_by_itself_is_a_failure(status: dict[str, object], state: str, message: str) -> None:
    """Each with the kubelet's own message, the pod and its container."""
    found = pods.trouble([pod("p", status)])
    assert found is not None
    assert (found.state, found.message, found.container) == (state, message, "main")


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
    """Nor is a container that is ready again after restarts."""
    assert pods.trouble([pod("p", status)]) is None


def test_a_container_that_is_started_again_has_the_same_failure() -> None:
    """The key of a failure does not change while restarts are counted, or the message with them."""
    first, again = (pods.trouble([pod("p", ended(1, n, back_off=n % 2 == 0), owner="set-uid")]) for n in (2, 3))
    assert first is not None
    assert again is not None
    assert first.message != again.message
    assert first.key == again.key == "set main ends"


def test_a_job_counts_its_own_attempts() -> None:
    """Its backoffLimit ends it; an image that cannot be pulled never does."""
    assert pods.trouble([pod("p", ended(1, 3))], restarts=False) is None
    assert pods.trouble([pod("p", waits("ErrImagePull"))], restarts=False) is not None


def test_a_pod_that_waits_says_why() -> None:
    """The scheduler's reason, else the newest event about volumes, sandbox or pull, else the container's."""
    unscheduled = pod("a")
    unscheduled["status"]["conditions"] = [condition("PodScheduled", "False", "Unschedulable", "0/4 nodes: gpu")]
    assert pods.progress([unscheduled, pod("b", waits("ContainerCreating"))], NOTHING) == (
        "pod a (and 1 more): 0/4 nodes: gpu"
    )
    pulling = look((kinds.EVENT, [event("b", "Pulling", 'Pulling image "x"'), event("c", "FailedMount", "other")]))
    assert pods.progress([pod("b", waits("ContainerCreating"))], pulling) == 'pod b: Pulling image "x"'
    assert pods.progress([pod("b", waits("ContainerCreating"))], NOTHING) == "pod b: container main: ContainerCreating"
    ready = pod("d")
    ready["status"]["conditions"] = [condition("Ready")]
    assert pods.progress([ready], NOTHING) == ""


DAEMON_SET = {
    "kind": "DaemonSet",
    "metadata": meta("plugin", generation=2, annotations={"deprecated.daemonset.template.generation": "2"}),
    "status": {"desiredNumberScheduled": 2, "numberReady": 1, "observedGeneration": 2},
}


def test_pods_of_an_earlier_template_are_not_judged() -> None:
    """A cause that the settings have removed still shows in pods that are about to be replaced."""
    old = pod("old", ended(1, 9), owner="plugin-uid", labels={"pod-template-generation": "1"})
    new = pod("new", waits("ContainerCreating"), owner="plugin-uid", labels={"pod-template-generation": "2"})
    found = workloads.verdict(DAEMON_SET, look((kinds.POD, [old, new])))
    assert (found.state, found.message) == (
        "waiting",
        "1 of 2 pods are ready; pod new: container main: ContainerCreating",
    )
    assert workloads.verdict(DAEMON_SET, look((kinds.POD, [{**old, "metadata": new["metadata"]}]))).state == "failing"


def test_a_deployment_is_judged_by_its_newest_replica_set() -> None:
    """Its progress deadline, and refused pods, count when no pod says more."""
    deployment = {"kind": "Deployment", "metadata": meta("manager"), "spec": {"replicas": 1}, "status": {}}
    revision = "deployment.kubernetes.io/revision"
    sets = [
        {"metadata": meta(name, owner="manager-uid", annotations={revision: number})}
        for name, number in (("r9", "9"), ("r10", "10"))
    ]
    old, new = pod("a", ended(1, 5), owner="r9-uid"), pod("b", waits("ContainerCreating"), owner="r10-uid")
    around = look((kinds.REPLICA_SET, sets), (kinds.POD, [old, new]))
    assert workloads.verdict(deployment, around).message.startswith("0 of 1 pods are ready; pod b")
    late = condition("Progressing", "False", "ProgressDeadlineExceeded", 'ReplicaSet "r10" has timed out progressing.')
    assert workloads.verdict({**deployment, "status": {"conditions": [late]}}, around).message == (
        'ProgressDeadlineExceeded: ReplicaSet "r10" has timed out progressing.'
    )
    refused = condition(
        "ReplicaFailure", "True", "FailedCreate", "pods is forbidden: unable to validate against any scc"
    )
    found = workloads.verdict({**deployment, "status": {"conditions": [refused]}}, NOTHING)
    assert (found.state, found.key) == ("failing", "ReplicaFailure")
    full = condition("ReplicaFailure", "True", "FailedCreate", "pods is forbidden: exceeded quota: gpus")
    assert workloads.verdict({**deployment, "status": {"conditions": [full]}}, NOTHING).state == "waiting"


def test_pods_that_a_controller_cannot_make_are_told_by_events_until_one_is_made() -> None:
    """DaemonSets have no condition for it."""
    bad = event("plugin", "FailedCreate", "pods is forbidden: no scc", "2026-11-22T10:00:00Z", "DaemonSet")
    good = event("plugin", "SuccessfulCreate", "created", "2026-11-22T10:01:00Z", "DaemonSet")
    assert (
        workloads.verdict(DAEMON_SET, look((kinds.EVENT, [bad]))).message == "FailedCreate of DaemonSet plugin: no scc"
    )
    assert workloads.verdict(DAEMON_SET, look((kinds.EVENT, [bad, good]))).state == "waiting"


def test_a_workload_that_has_its_pods_is_done() -> None:
    """Once its controller has seen its present generation."""
    status = {"desiredNumberScheduled": 2, "numberReady": 2}
    assert workloads.verdict({**DAEMON_SET, "status": {**status, "observedGeneration": 2}}, NOTHING).state == "done"
    assert workloads.verdict({**DAEMON_SET, "status": {**status, "observedGeneration": 1}}, NOTHING).state == "waiting"
