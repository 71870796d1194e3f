"""Logs of a cluster's jobs."""

from pathlib import Path
from typing import Any

import pytest

from core.apis.kinds import Kind
from core.apis.names import JOB_NAME, JOBSET_NAME
from core.goodput import GoodputLines
from core.progress import SILENT
from tests.support.messages import has
from toolkit.cli.shared.cluster_client import Cluster, RefusedError
from toolkit.cli.shared.errors import Problem
from toolkit.cli.status.jobs import Job as Seen
from toolkit.cli.verify.job_logs import collect, printing
from toolkit.evidence.goodput.causes import Cause
from toolkit.evidence.goodput.reading import Goodput
from toolkit.evidence.judge import judge
from toolkit.evidence.verdict import Ended, Job, Request, Shape, Status

LOGS = {"one-launcher": b"# nothing known\n", "test-x7k2p": b"hello\n"}


def _pod(name: str, made: int, **labels: str) -> dict[str, Any]:
    named = {key.replace("__", "/").replace("_DOT_", "."): value for key, value in labels.items()}
    meta = {"name": name, "namespace": "adas", "labels": named, "creationTimestamp": f"2026-01-01T00:00:{made:02d}Z"}
    return {"metadata": meta, "spec": {"containers": [{"name": "main"}]}}


PODS = [
    _pod("one-launcher", 2, mpi_job_name="one", mpi_role_type="launcher"),
    _pod("one-worker-0", 1, mpi_job_name="one", mpi_role_type="worker"),
    _pod("test-x7k2p", 3, **{"job-name": "test"}),
    _pod("waits-abcde", 4, **{"job-name": "waits"}),
    _pod(
        "two-launcher",
        5,
        **{"training.kubeflow.org/job-name": "two", "training.kubeflow.org/job-role": "launcher", "job-name": "two-l"},
    ),
    {"metadata": {"name": "bare", "namespace": "adas"}, "spec": {"containers": [{"name": "main"}]}},
]


class Simulated(Cluster):
    """A cluster of these pods."""

    def list(self, kind: Kind, namespace: str = "", **query: str) -> list[dict[str, Any]]:
        """Return the pods."""
        assert (kind.kind, namespace, query) == ("Pod", "adas", {})
        return PODS

    def download(self, path: str, file: Path, **query: str) -> bool:
        """Write a pod's log."""
        assert query == {"container": "main"}
        name = path.split("/")[-2]
        if name in LOGS:
            file.write_bytes(LOGS[name])
        return name in LOGS


def _seen(name: str, state: str, *why: str) -> Seen:
    return Seen("MPIJob", "adas", name, state, ("dgx01",), 1.0, why, {f"{name}-worker-0": "dgx01"})


def test_what_prints_a_jobs_results_is_read(tmp_path: Path) -> None:
    """The log of the pod that prints a job's results is read, and a job that does not exist is reported."""
    wanted = [Request(job=f"adas/{name}") for name in ("one", "test", "waits", "gone")]
    seen = [_seen("one", "Succeeded"), _seen("test", "Failed"), _seen("waits", "Pending", "no node", "no quota")]
    simulated = Simulated(tmp_path / "kubeconfig", "lab")
    with SILENT.step("read") as step:
        one, test, waits, gone = collect(simulated, wanted, seen, tmp_path, step)
    assert (one.ended, one.request.nodes) == (Ended.SUCCEEDED, ("dgx01",))
    assert [reading.file for reading in one.readings] == [str(tmp_path / "adas_one" / "one-launcher.log")]
    assert (test.ended, len(test.readings)) == (Ended.FAILED, 1)
    assert (waits.ended, waits.readings, waits.why) == (Ended.WAITING, (), "no node; no quota")
    assert (gone.ended, gone.readings) == (Ended.ABSENT, ())


def test_pods_are_found_by_the_labels_of_every_generation() -> None:
    """Pods are found by the labels of every generation, and only those of the job."""
    assert [pod["metadata"]["name"] for pod in printing(PODS, "two")] == ["two-launcher"]
    assert [pod["metadata"]["name"] for pod in printing(PODS, "one")] == ["one-launcher"]
    assert printing(PODS, "on") == []
    pods = [
        {"metadata": {"name": f"train-node-0-{rank}-abcde", "labels": {JOBSET_NAME: "train", JOB_NAME: "train-node-0"}}}
        for rank in range(2)
    ]
    assert printing(pods, "train") == pods


class Retried(Cluster):
    """A cluster whose launcher was tried several times; it answers `refusals` with 500, and knows `logs`."""

    def __init__(self, folder: Path, pods: list[dict[str, Any]], refusals: tuple[str, ...] = ()) -> None:
        super().__init__(folder / "kubeconfig", "lab")
        object.__setattr__(self, "pods", pods)
        object.__setattr__(self, "refusals", refusals)

    pods: list[dict[str, Any]]
    refusals: tuple[str, ...]

    def list(self, kind: Kind, namespace: str = "", **_query: str) -> list[dict[str, Any]]:
        """Return the pods, where it may."""
        if kind.kind in self.refusals:
            raise RefusedError("the API server refuses it", "Log in again.", "403, pods is forbidden")
        return self.pods if namespace == "adas" else []

    def download(self, path: str, file: Path, **_query: str) -> bool:
        """Write what names the pod."""
        name = path.split("/")[-2]
        if name in self.refusals:
            raise RefusedError("the API server answers with 500", "See.", "500, dial tcp 10.0.0.1:10250: no route")
        file.write_text(f"# nccl of {name}\n")
        return True


def _attempt(name: str, made: int, phase: str, node: str | None = None, **labels: str) -> dict[str, Any]:
    pod = _pod(name, made, **(labels or {"mpi_job_name": "one", "mpi_role_type": "launcher"}))
    return {**pod, "spec": {**pod["spec"], "nodeName": node}, "status": {"phase": phase}}


def _worker(number: int, node: str | None) -> dict[str, Any]:
    return _attempt(f"one-worker-{number}", 1, "Running", node, mpi_job_name="one", mpi_role_type="worker")


def _collected(cluster: Cluster, folder: Path, *jobs: tuple[Request, Seen]) -> list[Job]:
    with SILENT.step("read") as step:
        return collect(cluster, [request for request, _ in jobs], [seen for _, seen in jobs], folder, step)


ONE = Request(job="adas/one", shape=Shape(pods=2, gpus=8))


@pytest.mark.parametrize(
    ("phases", "state", "judged"),
    [
        (("Failed", "Succeeded"), "Succeeded", "try-1"),
        (("Failed", "Succeeded", "Failed"), "Succeeded", "try-1"),
        (("Failed", "Failed"), "Failed", "try-1"),
        (("Failed", "Running"), "Running", "try-1"),
        (("Failed", "Pending"), "Created", "try-1"),
    ],
)
def test_the_attempt_that_made_the_result_is_judged(
    tmp_path: Path, phases: tuple[str, ...], state: str, judged: str
) -> None:
    """The attempt that made the result is judged."""
    pods = [_attempt(f"try-{number}", number, phase) for number, phase in enumerate(phases)]
    (job,) = _collected(Retried(tmp_path, pods), tmp_path, (ONE, _seen("one", state)))
    assert {Path(reading.file).stem for reading in job.readings} == {judged}
    assert job.why is not None
    assert f"of {len(phases)} attempts {judged} is judged" in job.why
    kept = sorted(file.stem for file in (tmp_path / "adas_one").iterdir())
    assert kept == [f"try-{number}" for number in range(len(phases))]
    assert all(f"{name}.log" in job.why for name in kept if name != judged)


def test_one_log_that_cannot_be_had_costs_one_job(tmp_path: Path) -> None:
    """A log that cannot be read costs one job its verdicts."""
    pods = [_attempt("one-launcher", 1, "Succeeded"), _attempt("test-a", 2, "Succeeded", **{"job-name": "test"})]
    cluster = Retried(tmp_path, pods, ("one-launcher",))
    lost, fine = _collected(
        cluster, tmp_path, (ONE, _seen("one", "Succeeded")), (Request(job="adas/test"), _seen("test", "Succeeded"))
    )
    assert (lost.ended, lost.readings) == (Ended.SUCCEEDED, ())
    assert has(lost.why or "", "one-launcher", "500, dial tcp 10.0.0.1:10250: no route")
    assert (len(fine.readings), fine.why) == (1, None)
    missing = [one for one in judge([lost]) if one.criterion == "complete-logs"]
    assert [(one.status, "no route" in one.measured) for one in missing] == [(Status.MISSING, True)]


def test_a_node_that_gives_no_log_is_waited_for_once(tmp_path: Path) -> None:
    """A node that returns no log is waited for once."""
    request: list[str] = []

    class Slow(Retried):
        def download(self, path: str, file: Path, **query: str) -> bool:
            request.append(file.stem)
            if file.stem != "fine":
                raise RefusedError("it does not finish", "See.", "Read timed out.", late=True)
            return super().download(path, file, **query)

    nodes = {"a": "dgx01", "b": "dgx01", "fine": "dgx02"}
    pods = [_attempt(name, 1, "Succeeded", node, **{"job-name": name}) for name, node in nodes.items()]
    jobs = [(Request(job=f"adas/{name}"), _seen(name, "Succeeded")) for name in nodes]
    found = _collected(Slow(tmp_path, pods), tmp_path, *jobs)
    assert request == ["a", "fine"]
    assert [one.why and one.why.partition(": ")[2] for one in found] == ["Read timed out."] * 2 + [None]
    assert len(found[2].readings) == 1


def test_pods_that_an_account_may_not_list_are_reported(tmp_path: Path) -> None:
    """Pods that an account may not list are reported with the server's reason."""
    (job,) = _collected(Retried(tmp_path, [], ("Pod",)), tmp_path, (ONE, _seen("one", "Succeeded")))
    assert (job.readings, job.why) == ((), "the pods of adas cannot be read: 403, pods is forbidden")


def test_a_server_that_cannot_be_reached_ends_it(tmp_path: Path) -> None:
    """A server that cannot be reached ends the command."""

    class Gone(Retried):
        def download(self, path: str, file: Path, **_query: str) -> bool:
            raise Problem(f"the API server does not answer {path} for {file}", "See.")

    with pytest.raises(Problem, match="does not answer"):
        _collected(Gone(tmp_path, [_attempt("one-launcher", 1, "Succeeded")]), tmp_path, (ONE, _seen("one", "Running")))


def test_a_job_whose_pods_are_gone_says_what_to_do(tmp_path: Path) -> None:
    """A job whose pods are gone names what to do, and the logs of an earlier verify."""
    (job,) = _collected(Retried(tmp_path, []), tmp_path, (ONE, _seen("one", "Succeeded")))
    assert has(job.why or "", "pods are gone", "`run`")
    (tmp_path / "adas_one").mkdir()
    (tmp_path / "adas_one" / "one-launcher.log").touch()
    (job,) = _collected(Retried(tmp_path, []), tmp_path, (ONE, _seen("one", "Succeeded")))
    assert "the logs of an earlier verification in" in str(job.why)
    assert job.readings == ()


def test_a_container_that_was_restarted_in_place_is_named(tmp_path: Path) -> None:
    """A container that was restarted is named."""
    pod = _attempt("one-launcher", 1, "Succeeded")
    pod["status"]["containerStatuses"] = [{"name": "main", "restartCount": 2}]
    (job,) = _collected(Retried(tmp_path, [pod]), tmp_path, (ONE, _seen("one", "Succeeded")))
    assert has(job.why or "", "one-launcher", "restarted 2 times", "last start")


@pytest.mark.parametrize(
    ("workers", "events", "nodes"),
    [
        (("dgx01", "dgx02"), {}, ("dgx01", "dgx02")),
        ((), {"one-worker-0": "dgx01", "one-worker-1": "dgx02"}, ("dgx01", "dgx02")),
        (("dgx02",), {"one-worker-1": "dgx01"}, ("dgx01", "dgx02")),
        (("dgx01", "dgx01"), {}, ("dgx01",)),
        ((), {"one-worker-0": "dgx01"}, ()),
        (("dgx01", None), {"one-worker-0": "dgx01"}, ()),
        ((), {}, ()),
    ],
    ids=["pods", "events", "both", "one node", "expiring", "not placed", "expired"],
)
def test_nodes_are_those_of_all_pods_or_not_known(
    tmp_path: Path, workers: tuple[str | None, ...], events: dict[str, str], nodes: tuple[str, ...]
) -> None:
    """Nodes are those of all pods, or unknown."""
    pods = [_attempt("one-launcher", 3, "Succeeded", "master")]
    pods += [_worker(number, node) for number, node in enumerate(workers)]
    seen = Seen("MPIJob", "adas", "one", "Succeeded", (), 1.0, (), events)
    (job,) = _collected(Retried(tmp_path, pods), tmp_path, (ONE, seen))
    assert job.request.nodes == nodes


def test_a_batch_job_was_where_its_judged_pod_was(tmp_path: Path) -> None:
    """A batch job ran where its judged pod did."""
    pods = [
        _attempt(f"test-{n}", n, phase, f"dgx0{n}", **{"job-name": "one"})
        for n, phase in enumerate(("Failed", "Succeeded"))
    ]
    seen = Seen("Job", "adas", "one", "Succeeded", (), 1.0, (), {"test-0": "dgx00", "test-1": "dgx01"})
    (job,) = _collected(Retried(tmp_path, pods), tmp_path, (Request(job="adas/one"), seen))
    assert job.request.nodes == ("dgx01",)


class Timed(Cluster):
    """A cluster with one job of two attempts, which Kueue admitted after ten seconds."""

    def list(self, kind: Kind, namespace: str = "", **_query: str) -> list[dict[str, Any]]:
        """Return the pods, or Kueue's workload."""
        assert namespace == "adas"
        if kind.kind == "Workload":
            admitted = {"type": "Admitted", "status": "True", "lastTransitionTime": "2026-01-01T00:00:10Z"}
            owner = {"creationTimestamp": "2026-01-01T00:00:00Z", "ownerReferences": [{"name": "train"}]}
            return [{"metadata": owner, "status": {"conditions": [admitted]}}]
        return [_pod(name, made, **{"job-name": "train"}) for made, name in enumerate(("train-a", "train-b"))]

    def download(self, path: str, file: Path, **query: str) -> bool:
        """Write an attempt's log, with the times that were asked for: the second goes on from step 3."""
        assert query == {"container": "main", "timestamps": "true"}
        begin, first = (20, 1) if "train-a" in path else (40, 4)
        steps = [f"2026-01-01T00:00:{begin + step - first}.0Z step {step}\n" for step in range(first, first + 6)]
        file.write_text("".join(steps))
        return True


def test_goodput_is_of_all_attempts_and_of_the_wait_in_the_queue(tmp_path: Path) -> None:
    """Logs are fetched with their times; the other criteria judge the last attempt alone."""
    request = Request(job="adas/train", goodput=GoodputLines(step=r"step (\d+)"))
    with SILENT.step("logs") as step:
        (job,) = collect(
            Timed(tmp_path / "kubeconfig", "lab"), [request], [_seen("train", "Succeeded")], tmp_path, step
        )
    (goodput,) = [reading for reading in job.readings if isinstance(reading, Goodput)]
    assert goodput.seconds[Cause.QUEUE] == 10
    assert (goodput.steps, [stop.lost for stop in goodput.interruptions]) == (9, [3])
