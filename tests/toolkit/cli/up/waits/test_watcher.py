"""What is read beside the engine: which objects, what is printed about them, and when the update is ended."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from core.apis import kinds
from core.apis.kinds import Kind
from tests.support.messages import has
from tests.support.wait_objects import condition, ended, meta, pod, waits
from toolkit.cli.shared.cluster_client import Cluster, RefusedError
from toolkit.cli.shared.errors import Problem
from toolkit.cli.up.waits.rules import judge_of
from toolkit.cli.up.waits.verdict import (
    DONE,
    RECOVERED,
    FailureDuration,
    Subject,
    failed,
    failing,
    going,
    subject_of,
    waiting,
)
from toolkit.cli.up.waits.watcher import AGAIN, FIRST, Watcher, last_lines

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
    """Put objects of a kind onto the cluster, in place of existing ones."""
    cluster.__dict__["objects"][kind.kind] = objects


def subscription(**status: Any) -> dict[str, Any]:
    """Return the Subscription that is waited for."""
    return {"metadata": meta("nfd"), "spec": {}, "status": status}


def begin(watcher: Watcher, **more: Any) -> None:
    """Report that the engine works on an object."""
    watcher.take({"resourcePreEvent": {"metadata": step(**more)}})


def test_a_lasting_failure_ends_the_update(watcher: Watcher, cluster: Objects, clock: Clock) -> None:
    """A failure is printed at once, and ends the update when it has lasted; an object is first read after a while."""
    put(cluster, kinds.SUBSCRIPTION, subscription(**UNRESOLVED))
    begin(watcher)
    watcher.round()
    assert watcher.notes() == []
    clock.now += FIRST
    watcher.round()
    reason = ("ResolutionFailed", "ConstraintsNotSatisfiable", "no such channel")
    (note,) = watcher.notes()
    assert has(note, "40 s", "Subscription ns/nfd", *reason)
    for _ in range(7):
        clock.now += 5
        watcher.round()
        assert (watcher.notes(), watcher.failure) == ([], None)
    clock.now += 5
    watcher.round()
    assert watcher.failure is not None
    assert has(watcher.failure, "Subscription ns/nfd", *reason)


def test_a_failure_has_the_last_lines_of_its_pod(watcher: Watcher, cluster: Objects, clock: Clock) -> None:
    """A failure has the last log lines of its pod, and the command that starts the pod again."""
    put(cluster, kinds.DAEMON_SET, {"metadata": meta("plugin", generation=1), "status": {"desiredNumberScheduled": 1}})
    begin(watcher, kind=kinds.DAEMON_SET, name="plugin")
    for restarts in range(3, 12):
        put(cluster, kinds.POD, pod("plugin-1", ended(1, restarts, "no device"), owner="plugin-uid"))
        clock.now += 5
        watcher.round()
    assert len(watcher.notes()) == 1
    assert watcher.failure is not None
    assert has(
        watcher.failure,
        *("DaemonSet ns/plugin", "pod ns/plugin-1", "container main", "exit code 1", "11 restarts"),
        *("CrashLoopBackOff", "no device\n", "pod ns/plugin-1, container main"),
        "\n  /api/v1/namespaces/ns/pods/plugin-1/log main\n  the last line\n",
        "`oc delete pod -n ns plugin-1`",
    )


def test_progress_is_not_ended_and_its_changes_are_printed(watcher: Watcher, cluster: Objects, clock: Clock) -> None:
    """Progress does not end an update, however slow: one line for a change, but not for every step of a counter."""
    begin(watcher)
    said = []
    for number in range(60):
        put(cluster, kinds.SUBSCRIPTION, subscription(state=f"Step{number // 2}"))
        clock.now += 5
        watcher.round()
        said += watcher.notes()
    assert watcher.failure is None
    assert len(said) == 60 * 5 / AGAIN
    assert [has(line, "Subscription ns/nfd", step) for line, step in zip(said, ("Step0", "Step1"), strict=False)] == [
        True,
        True,
    ]


def test_what_the_engine_has_done_is_read_no_more(watcher: Watcher, cluster: Objects, clock: Clock) -> None:
    """An object whose step has ended, or is only planned, is not read."""
    put(cluster, kinds.SUBSCRIPTION, subscription(**UNRESOLVED))
    begin(watcher)
    watcher.take({"resOutputsEvent": {"metadata": step()}})
    watcher.take({"resourcePreEvent": {"metadata": step(name="other"), "planning": True}})
    clock.now += 100
    watcher.round()
    assert (watcher.notes(), watcher.failure) == ([], None)


@pytest.mark.parametrize("refused", ["Subscription", "InstallPlan"])
def test_a_refused_read_is_reported_once_and_ends_nothing(
    watcher: Watcher, cluster: Objects, clock: Clock, refused: str
) -> None:
    """A kind that may not be read is reported once, and the update continues."""
    cluster.__dict__["refused"] = {refused}
    put(cluster, kinds.SUBSCRIPTION, subscription(installPlanRef={"name": "install-1"}))
    begin(watcher)
    said = []
    for _ in range(30):
        clock.now += 5
        watcher.round()
        said += [line for line in watcher.notes() if "forbidden" in line]
    plural = f"{refused.lower()}s"
    assert len(said) == 1
    assert has(said[0], plural, "403", f"{plural} is forbidden")
    assert watcher.failure is None


def test_a_fault_of_a_rule_is_logged_and_hides_nothing(
    watcher: Watcher, cluster: Objects, clock: Clock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fault of one rule is one note with the path of its traceback; objects of other kinds are still judged."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    put(cluster, kinds.DAEMON_SET, {"metadata": meta("plugin", generation=1), "status": {"desiredNumberScheduled": 1}})
    put(cluster, kinds.SUBSCRIPTION, subscription(**UNRESOLVED))
    begin(watcher, kind=kinds.DAEMON_SET, name="plugin")
    begin(watcher)
    rules = {"DaemonSet": lambda live, _: waiting(live["planted"])}
    monkeypatch.setattr(
        "toolkit.cli.up.waits.watcher.judge_of", lambda group, kind: rules.get(kind) or judge_of(group, kind)
    )
    said = []
    for _ in range(20):
        clock.now += 5
        watcher.round()
        said += watcher.notes()
    (fault,) = (line for line in said if "fault" in line)
    log = tmp_path / "hpc/logs/faults.log"
    assert has(fault, "judging DaemonSet ns/plugin", "KeyError: 'planted'", f"its traceback is in {log}", "goes on")
    assert log.read_text().count("Traceback") == 1
    assert "in <lambda>" in log.read_text()
    assert watcher.failure is not None
    assert has(watcher.failure, "Subscription ns/nfd")


def test_a_fault_between_rules_is_logged(cluster: Objects, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault outside of the rules does not end the thread that reads, and is logged, too."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    now = iter([0.0])
    watcher = Watcher(cluster, 40.0, lambda: next(now))
    begin(watcher)
    notes: list[str] = []
    with watcher.watch():
        for _ in range(500):
            if notes := watcher.notes():
                break
            time.sleep(0.01)
    (fault,) = notes
    assert has(fault, "reading what is waited for", "StopIteration", str(tmp_path / "hpc/logs/faults.log"))


def test_a_server_that_does_not_answer_ends_nothing(cluster: Objects) -> None:
    """A server that does not answer ends no update: the engine notices itself."""
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
    """After an error the update ends, rather than wait for the operations under way until their timeout."""
    put(cluster, kinds.SUBSCRIPTION, subscription(state="UpgradePending"))
    begin(watcher)
    watcher.take({"resOpFailedEvent": {"metadata": step(name="other")}})
    clock.now += 39
    watcher.round()
    assert watcher.failure is None
    clock.now += 1
    watcher.round()
    assert watcher.failure is not None
    assert has(watcher.failure, "failed", "Subscription ns/nfd")


def test_a_failed_job_that_the_engine_takes_for_done_is_a_failure(
    watcher: Watcher, cluster: Objects, clock: Clock
) -> None:
    """A failed job ends the update soon, without the hours until no other operation is under way."""
    put(cluster, kinds.SUBSCRIPTION, subscription(state="UpgradePending"))
    begin(watcher)
    wrong = {"conditions": [condition("Failed", "True", "BackoffLimitExceeded", "it failed")]}
    watcher.take({"resOutputsEvent": {"metadata": step(kind=kinds.MPI_JOB_V2BETA1, name="train", status=wrong)}})
    clock.now += 40
    watcher.round()
    assert watcher.failure is not None
    assert has(watcher.failure.splitlines()[0], "MPIJob ns/train", "BackoffLimitExceeded", "it failed")


def test_failures_count_when_they_last() -> None:
    """A final failure counts at once, others when they last; a short recovery, as between restarts, resets nothing."""
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
    """Objects that the engine creates, changes or deletes are read; components and objects of unknown name are not."""
    assert subject_of(given) == found


def test_what_is_being_deleted_names_what_blocks_it() -> None:
    """An object that is being deleted is reported with finalizers, and a namespace with its remaining content."""
    held = {"kind": "Namespace", "metadata": meta("ns", "", finalizers=["a/b"]), "status": {}}
    held["status"] = {"conditions": [condition("NamespaceContentRemaining", message="pods. has 1 resource instances")]}
    assert has(going(held).message, "deleted", "finalizers a/b", "pods. has 1 resource instances")


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
    """The log is that of the container's previous run where it runs again; one that never ran has none."""
    queries = []

    def download(_path: str, file: Path, **given: str) -> bool:
        queries.append(given)
        return bool(file.write_text("x\n"))

    cluster.__dict__["download"] = download
    text = last_lines(cluster, pod("p", status), "main")
    assert queries == ([query] if query else [])
    assert has(text, "pod ns/p", "container main", "\n  x") if query else text == ""


def test_a_log_that_is_refused_is_reported(cluster: Objects) -> None:
    """The failure is reported with the reason why there is no log."""

    def refuse(*_: Any, **_given: Any) -> bool:
        raise RefusedError("the API server refuses pods/log", "log in", "403")

    cluster.__dict__["download"] = refuse
    text = last_lines(cluster, pod("p", ended(1, 2)))
    assert has(text, "pod ns/p", "container main", "the API server refuses pods/log")
