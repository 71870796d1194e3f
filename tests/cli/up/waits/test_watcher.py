"""What is read beside the engine: which objects, what is said of them, and when the update is ended."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from apis import kinds
from apis.kinds import Kind
from cli.shared.cluster_client import Cluster, RefusedError
from cli.shared.errors import Problem
from cli.up.waits.failure_duration import RECOVERED, FailureDuration
from cli.up.waits.pod_logs import last_lines
from cli.up.waits.subject import Subject, going, subject
from cli.up.waits.verdict import DONE, failed, failing, waiting
from cli.up.waits.watcher import AGAIN, FIRST, Watcher
from tests.support.awaited import condition, ended, meta, pod, waits

URN = "urn:pulumi:dev::hpc::kubernetes:operators.coreos.com/v1alpha1:Subscription::nfd"
UNRESOLVED = {"conditions": [condition("ResolutionFailed", "True", "ConstraintsNotSatisfiable", "no such channel")]}


def step(op: str = "create", kind: Kind = kinds.SUBSCRIPTION, name: str = "nfd", **outputs: Any) -> dict[str, Any]:
    """Return the metadata of a step of the engine."""
    inputs = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {"name": name, "namespace": "ns"}}
    state = {"inputs": inputs, "outputs": outputs}
    which = "old" if op == "delete" else "new"
    return {"op": op, "urn": f"{URN}-{name}", "type": f"kubernetes:{kind.api_version}:{kind.kind}", which: state}


class Objects(Cluster):
    """A cluster of these objects; kinds in `refused` may not be listed."""

    def __init__(self) -> None:
        super().__init__(Path("nowhere"), "test")
        self.__dict__.update(objects={}, refused=set(), logs={}, down=False)

    def list(self, kind: Kind, namespace: str = "", **_query: str) -> Sequence[Any]:  # type: ignore[override]
        """Return the objects of a kind."""
        if self.__dict__["down"]:
            raise Problem("the API server of context 'test' does not answer: refused")
        if kind.kind in self.__dict__["refused"]:
            raise RefusedError("refused", "log in", f"403, {kind.plural} is forbidden")
        found: list[Any] = self.__dict__["objects"].get(kind.kind, [])
        return [one for one in found if not namespace or one["metadata"].get("namespace") == namespace]

    def download(self, path: str, file: Path, **query: str) -> bool:
        """Write the log of a pod."""
        file.write_text(f"{path} {query['container']}\nthe last line\n")
        return True


class Clock:
    """A clock that a test sets."""

    now = 100.0

    def __call__(self) -> float:
        """Return it."""
        return self.now


@pytest.fixture
def clock() -> Clock:
    """Give a clock."""
    return Clock()


@pytest.fixture
def cluster() -> Objects:
    """Give a cluster with nothing on it."""
    return Objects()


@pytest.fixture
def watcher(cluster: Objects, clock: Clock) -> Watcher:
    """Give a watcher that has not started its thread."""
    return Watcher(cluster, 40.0, clock)


def put(cluster: Objects, kind: Kind, *objects: dict[str, Any]) -> None:
    """Put objects of a kind onto the cluster, in place of those that are there."""
    cluster.__dict__["objects"][kind.kind] = objects


def subscription(**status: Any) -> dict[str, Any]:
    """Return the Subscription that is waited for."""
    return {"metadata": meta("nfd"), "spec": {}, "status": status}


def begin(watcher: Watcher, **more: Any) -> None:
    """Tell that the engine works on an object."""
    watcher.take({"resourcePreEvent": {"metadata": step(**more)}})


def test_a_lasting_failure_ends_the_update(watcher: Watcher, cluster: Objects, clock: Clock) -> None:
    """It is said at once, and counts when it has lasted; what has been ready by then is not read."""
    put(cluster, kinds.SUBSCRIPTION, subscription(**UNRESOLVED))
    begin(watcher)
    watcher.round()
    assert watcher.notes() == []
    clock.now += FIRST
    watcher.round()
    text = "ResolutionFailed: ConstraintsNotSatisfiable: no such channel"
    assert watcher.notes() == [f"waits at most 40 s for Subscription ns/nfd to recover: {text}"]
    for _ in range(7):
        clock.now += 5
        watcher.round()
        assert (watcher.notes(), watcher.failure) == ([], None)
    clock.now += 5
    watcher.round()
    assert watcher.failure == f"Subscription ns/nfd: {text}"


def test_a_failure_tells_the_last_lines_of_its_pod(watcher: Watcher, cluster: Objects, clock: Clock) -> None:
    """Under the operator's message, with pod and container."""
    put(cluster, kinds.DAEMON_SET, {"metadata": meta("plugin", generation=1), "status": {"desiredNumberScheduled": 1}})
    begin(watcher, kind=kinds.DAEMON_SET, name="plugin")
    for restarts in range(3, 12):
        put(cluster, kinds.POD, pod("plugin-1", ended(1, restarts, "no device"), owner="plugin-uid"))
        clock.now += 5
        watcher.round()
    assert len(watcher.notes()) == 1
    assert watcher.failure == (
        "DaemonSet ns/plugin: pod ns/plugin-1, container main ended with exit code 1, 11 restarts (CrashLoopBackOff): "
        "no device\nlast log lines of pod ns/plugin-1, container main:\n  /api/v1/namespaces/ns/pods/plugin-1/log main"
        "\n  the last line\nIt tries again by itself within 5 minutes, or at once, with the cause removed: "
        "`oc delete pod -n ns plugin-1`"
    )


def test_what_is_alive_is_not_ended_and_says_its_changes(watcher: Watcher, cluster: Objects, clock: Clock) -> None:
    """However long it takes; one line for each change, not for each reading, and not for every step of a counter."""
    begin(watcher)
    said = []
    for number in range(60):
        put(cluster, kinds.SUBSCRIPTION, subscription(state=f"Step{number // 2}"))
        clock.now += 5
        watcher.round()
        said += watcher.notes()
    assert watcher.failure is None
    assert len(said) == 60 * 5 / AGAIN
    assert said[:2] == ["waits for Subscription ns/nfd: Step0", "waits for Subscription ns/nfd: Step1"]


def test_what_the_engine_has_done_is_read_no_more(watcher: Watcher, cluster: Objects, clock: Clock) -> None:
    """Nor what it only plans."""
    put(cluster, kinds.SUBSCRIPTION, subscription(**UNRESOLVED))
    begin(watcher)
    watcher.take({"resOutputsEvent": {"metadata": step()}})
    watcher.take({"resourcePreEvent": {"metadata": step(name="other"), "planning": True}})
    clock.now += 100
    watcher.round()
    assert (watcher.notes(), watcher.failure) == ([], None)


@pytest.mark.parametrize("refused", ["Subscription", "InstallPlan"])
def test_a_refused_read_is_said_once_and_ends_nothing(
    watcher: Watcher, cluster: Objects, clock: Clock, refused: str
) -> None:
    """The update goes on as without it."""
    cluster.__dict__["refused"] = {refused}
    put(cluster, kinds.SUBSCRIPTION, subscription(installPlanRef={"name": "install-1"}))
    begin(watcher)
    said = []
    for _ in range(30):
        clock.now += 5
        watcher.round()
        said += [line for line in watcher.notes() if "forbidden" in line]
    plural = f"{refused.lower()}s"
    assert said == [
        f"what is waited for cannot be read in full; the update goes on: {plural}: 403, {plural} is forbidden"
    ]
    assert watcher.failure is None


def test_a_server_that_does_not_answer_ends_nothing(cluster: Objects) -> None:
    """The thread says it once; the engine finds out by itself."""
    cluster.__dict__["down"] = True
    now = [0.0]
    watcher = Watcher(cluster, 40.0, lambda: now[0])
    begin(watcher)
    now[0] += FIRST
    with watcher.watch():
        pass
    assert watcher.failure is None


def test_an_update_that_has_failed_is_not_continued_for_what_it_still_waits_for(
    watcher: Watcher, cluster: Objects, clock: Clock
) -> None:
    """The engine starts nothing new after an error, and would wait for what is under way to its time-out."""
    put(cluster, kinds.SUBSCRIPTION, subscription(state="UpgradePending"))
    begin(watcher)
    watcher.take({"resOpFailedEvent": {"metadata": step(name="other")}})
    clock.now += 39
    watcher.round()
    assert watcher.failure is None
    clock.now += 1
    watcher.round()
    assert watcher.failure == (
        "the update has failed, and is not continued for what it still waits for: Subscription ns/nfd"
    )


def test_a_job_that_the_engine_takes_for_done_is_a_failure(watcher: Watcher, cluster: Objects, clock: Clock) -> None:
    """The program ends the update by it as soon as nothing else is under way, which may be hours."""
    put(cluster, kinds.SUBSCRIPTION, subscription(state="UpgradePending"))
    begin(watcher)
    wrong = {"conditions": [condition("Failed", "True", "BackoffLimitExceeded", "it failed")]}
    watcher.take({"resOutputsEvent": {"metadata": step(kind=kinds.MPI_JOB_V2BETA1, name="train", status=wrong)}})
    clock.now += 40
    watcher.round()
    assert watcher.failure is not None
    assert watcher.failure.splitlines()[0] == "MPIJob ns/train: BackoffLimitExceeded: it failed"


def test_failures_count_when_they_last() -> None:
    """Final ones at once; a moment of being better, as between two restarts, does not begin them again."""
    standing = FailureDuration(40)
    assert standing.take(failed("it failed"), 0)
    assert not standing.take(failing("it ends, 1 restart", "pod"), 0)
    assert not standing.take(waiting("it runs"), 20)
    assert not standing.take(failing("it ends, 2 restarts", "pod"), 20 + RECOVERED)
    assert standing.take(failing("it ends, 3 restarts", "pod"), 40)
    again = FailureDuration(40)
    assert not again.take(failing("a", "pod"), 0)
    assert not again.take(DONE, 10)
    assert not again.take(failing("a", "pod"), 11 + RECOVERED)
    assert not again.take(failing("a", "pod"), 50)
    assert not again.take(failing("b", "other"), 51)
    assert not FailureDuration(40).take(waiting("it is slow"), 10_000)


@pytest.mark.parametrize(
    ("given", "found"),
    [
        (step(), Subject("operators.coreos.com/v1alpha1", "Subscription", "ns", "nfd")),
        (step("update"), Subject("operators.coreos.com/v1alpha1", "Subscription", "ns", "nfd")),
        (step("delete"), Subject("operators.coreos.com/v1alpha1", "Subscription", "ns", "nfd", deleted=True)),
        (step(kind=kinds.CLUSTER_POLICY), Subject("nvidia.com/v1", "ClusterPolicy", "", "nfd")),
        (step("same"), None),
        (step() | {"type": "hpc:operators:OlmOperator"}, None),
        (step() | {"type": "pulumi:providers:kubernetes", "new": {"inputs": {}}}, None),
        (step() | {"new": {"inputs": {"apiVersion": "v1", "kind": "Secret", "metadata": {}}}}, None),
    ],
)
def test_objects_of_the_engines_steps(given: dict[str, Any], found: Subject | None) -> None:
    """Objects that it makes, changes or deletes; no components, and nothing whose name is unknown."""
    assert subject(given) == found


def test_what_is_being_deleted_says_what_holds_it() -> None:
    """Finalizers, and what a namespace still has in it."""
    held = {"kind": "Namespace", "metadata": meta("ns", "", finalizers=["a/b"]), "status": {}}
    held["status"] = {"conditions": [condition("NamespaceContentRemaining", message="pods. has 1 resource instances")]}
    assert going(held).message == "is being deleted; finalizers a/b; pods. has 1 resource instances"


@pytest.mark.parametrize(
    ("status", "query"),
    [
        (waits("ImagePullBackOff"), None),
        (ended(1, 2), {"container": "main", "tailLines": "20"}),
        (ended(1, 2, back_off=False), {"container": "main", "tailLines": "20", "previous": "true"}),
    ],
)
def test_the_log_is_that_of_the_container_that_ended(
    cluster: Objects, status: dict[str, Any], query: dict[str, str] | None
) -> None:
    """Its previous one where it runs again, and none where it never ran."""
    asked = []

    def download(_path: str, file: Path, **given: str) -> bool:
        asked.append(given)
        return bool(file.write_text("x\n"))

    cluster.__dict__["download"] = download
    text = last_lines(cluster, pod("p", status), "main")
    assert asked == ([query] if query else [])
    assert text == ("last log lines of pod ns/p, container main:\n  x" if query else "")


def test_a_log_that_is_refused_is_said(cluster: Objects) -> None:
    """The failure is reported with the reason why there is no log."""

    def refuse(*_: Any, **_given: Any) -> bool:
        raise RefusedError("the API server refuses pods/log", "log in", "403")

    cluster.__dict__["download"] = refuse
    assert last_lines(cluster, pod("p", ended(1, 2))) == (
        "the log of pod ns/p, container main could not be read: the API server refuses pods/log"
    )
