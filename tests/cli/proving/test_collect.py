"""Logs of a cluster's jobs."""

from pathlib import Path
from typing import Any

from apis.kinds import Kind
from cli.live import Cluster
from cli.overview.jobs import Job as Seen
from cli.proving import nodes
from cli.proving.collect import collect, printing
from evidence.verdict import Asked, Ended
from simulator.progress import SILENT

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


class Played(Cluster):
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
    return Seen("MPIJob", "adas", name, state, ("dgx01",), 1.0, why)


def test_what_prints_a_jobs_results_is_read(tmp_path: Path) -> None:
    """Prevents sixteen workers' empty logs instead of the launcher's, and a job that is not there from being judged."""
    wanted = [Asked(job=f"adas/{name}") for name in ("one", "test", "waits", "gone")]
    seen = [_seen("one", "Succeeded"), _seen("test", "Failed"), _seen("waits", "Pending", "no node", "no quota")]
    played = Played(tmp_path / "kubeconfig", "lab")
    with SILENT.step("read") as step:
        one, test, waits, gone = collect(played, wanted, seen, tmp_path, step)
    assert (one.ended, one.asked.nodes) == (Ended.SUCCEEDED, ("dgx01",))
    assert [reading.file for reading in one.readings] == [str(tmp_path / "adas_one" / "one-launcher.log")]
    assert (test.ended, len(test.readings)) == (Ended.FAILED, 1)
    assert (waits.ended, waits.readings, waits.why) == (Ended.WAITING, (), "no node; no quota")
    assert (gone.ended, gone.readings) == (Ended.ABSENT, ())


def test_pods_are_found_by_the_labels_of_every_generation() -> None:
    """Prevents a job of today's operator whose log is never read, and another job's pod that is."""
    assert [pod["metadata"]["name"] for pod in printing(PODS, "two")] == ["two-launcher"]
    assert [pod["metadata"]["name"] for pod in printing(PODS, "one")] == ["one-launcher"]
    assert printing(PODS, "on") == []


def test_nodes_tell_what_pods_may_have() -> None:
    """Prevents a node without its GPU stack that looks like one with it."""
    node = {
        "metadata": {
            "name": "dgx01",
            "labels": {"nvidia.com/cuda.driver.major": "440", "nvidia.com/cuda.driver.minor": "33"},
        },
        "spec": {"unschedulable": True},
        "status": {
            "allocatable": {"nvidia.com/gpu": "8", "rdma/shared_ib0": "100", "cpu": "79"},
            "conditions": [{"type": "Ready", "status": "True"}],
            "nodeInfo": {"kernelVersion": "3.10"},
        },
    }
    full, bare = nodes.facts([node, {"metadata": {"name": "zz"}}]).nodes
    assert (full.ready, full.schedulable, full.gpus, full.rdma) == (True, False, 8, {"shared_ib0": 100})
    assert (full.driver, full.gpu_model, full.kernel) == ("440.33", None, "3.10")
    assert (bare.ready, bare.gpus, bare.rdma) == (False, 0, {})


def test_the_pod_network_tells_its_packets() -> None:
    """Prevents an overlay that nobody sees, and no object from being read as packets of no bytes."""
    network = {"status": {"clusterNetworkMTU": 1400}}
    assert nodes.facts([], network).pod_mtu == 1400
    assert nodes.facts([], {"status": {}}).pod_mtu is None
    assert nodes.facts([]).pod_mtu is None
