"""Starting and removing a cluster, without one."""

import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import get_args

import pytest

from toolkit.engine.errors import SimulatorError
from toolkit.engine.tools.table import DRA_TOOLS, GPU_OPERATOR_TOOLS, JOB_CONTROLLERS, OLM_TOOLS
from toolkit.engine.tools.versions import KUBERNETES
from toolkit.simulator import cluster
from toolkit.simulator import start as starting
from toolkit.simulator.home import Layout
from toolkit.simulator.state import (
    CATALOGUES,
    CONTROLLERS,
    ClusterSpec,
    JobController,
    Kubernetes,
    NodeSpec,
    PortNumbers,
    State,
)

DGX = NodeSpec(name="dgx01", profile="dgx1-v100-16gb")


def test_bad_nodes_are_refused_before_anything_starts(tmp_path: Path) -> None:
    """Wrong nodes are refused before anything starts."""

    class Unheard:
        def step(self, title: str) -> None:
            raise AssertionError(f"{title} was begun")

    for spec, message in (
        (ClusterSpec(nodes=(NodeSpec(name="n", profile="dgx9"),)), "node n: unknown machine 'dgx9'"),
        (ClusterSpec(nodes=(DGX, DGX)), "nodes dgx01 appear twice"),
    ):
        with pytest.raises(SimulatorError, match=message):
            starting.start(spec, Layout(tmp_path / "x"), Unheard())  # type: ignore[arg-type]
        assert not (tmp_path / "x").exists()


def test_a_disk_that_is_nearly_full_is_refused_before_anything_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Too little space is refused before etcd fails by it."""
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=20 * 2**20))
    with pytest.raises(SimulatorError, match="only 20 MiB are free on the disk of"):
        cluster.up(ClusterSpec(name="small"), tmp_path / "small")


def test_no_go_and_no_tools_is_one_clear_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without Go and with an empty cache, `up` is one error and starts nothing."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("HPC_CACHE", str(tmp_path / "cache"))
    with pytest.raises(SimulatorError, match=r"there is no Go on PATH: install Go 1\.25\.11"):
        cluster.up(ClusterSpec(actors=False), tmp_path / "home")
    assert not (tmp_path / "home" / "pids.json").exists()


def test_a_cluster_has_the_mpi_operator_of_its_generation() -> None:
    """A cluster needs the MPI operator of its generation, and no other."""
    plain, today = ClusterSpec(), ClusterSpec(mpi="v2beta1")
    assert [name for name in starting.needed_tools(plain) if name.startswith("mpi-")] == ["mpi-operator"]
    assert [name for name in starting.needed_tools(today) if name.startswith("mpi-")] == ["mpi-operator-v2beta1"]


def test_a_cluster_with_actors_has_olm() -> None:
    """OLM's operators and the server of catalogues are of a cluster that installs operators, and of no bare one."""
    assert {*OLM_TOOLS} <= {*starting.needed_tools(ClusterSpec())}
    assert not {*OLM_TOOLS} & {*starting.needed_tools(ClusterSpec(actors=False))}


def test_controllers_of_jobs_are_needed_by_the_clusters_that_name_them() -> None:
    """A cluster without them needs none of their tools; one with Kueue needs its command and manifests."""
    every = {tool for found in JOB_CONTROLLERS.values() for tool in found}
    assert not every & {*starting.needed_tools(ClusterSpec())}
    assert every & {*starting.needed_tools(ClusterSpec(job_controllers=("kueue",)))} == {"kueue", "kueue-manifests"}
    assert not every & {*starting.needed_tools(ClusterSpec(actors=False, job_controllers=("kueue",)))}
    made = {"cert-manager", "cert-manager-manifests", "cert-manager-chart"}
    assert every & {*starting.needed_tools(ClusterSpec(job_controllers=("cert_manager",)))} == made
    assert {*CONTROLLERS} < {*get_args(JobController)} == {*JOB_CONTROLLERS}
    assert {*CONTROLLERS, *CATALOGUES.values()} <= {*PortNumbers.model_fields}


def test_a_suite_needs_kubectl() -> None:
    """Only a cluster whose stack has a suite builds it."""
    assert "kubectl" not in starting.needed_tools(ClusterSpec())
    assert "kubectl" in starting.needed_tools(ClusterSpec(suite=True))
    assert "gpu-operator" not in starting.needed_tools(ClusterSpec())
    assert {*GPU_OPERATOR_TOOLS} <= {*starting.needed_tools(ClusterSpec(gpu_operator=True))}
    assert not {*DRA_TOOLS} & {*starting.needed_tools(ClusterSpec())}
    assert {*DRA_TOOLS} <= {*starting.needed_tools(ClusterSpec(compute_domains=True))}


def test_a_cluster_keeps_the_controllers_that_it_has_had() -> None:
    """An update that removes one needs it until the end: its webhooks are called, and its finalizers removed."""
    ports = PortNumbers(api=1, etcd=2, etcd_peer=3, kubelet=4)
    known = State(spec=ClusterSpec(job_controllers=("jobset", "trainer")), ports=ports)
    found = starting.with_controllers_of(known, ClusterSpec(job_controllers=("kueue", "jobset")))
    assert found.job_controllers == ("kueue", "jobset", "trainer")
    assert not found.gpu_operator
    had = known.model_copy(update={"spec": ClusterSpec(gpu_operator=True, compute_domains=True)})
    assert starting.with_controllers_of(had, ClusterSpec()).gpu_operator
    assert starting.with_controllers_of(had, ClusterSpec()).compute_domains
    assert starting.with_controllers_of(None, ClusterSpec()) == ClusterSpec()


def test_the_kubernetes_that_it_serves_is_needed_alone() -> None:
    """A cluster of a later Kubernetes needs that one's commands, and no other's."""
    assert {*get_args(Kubernetes)} == {*KUBERNETES}
    nodes = (NodeSpec(name="a"),)
    minors: tuple[tuple[Kubernetes, str], ...] = (("1.34", ""), ("1.35", "-1.35"))
    for minor, ending in minors:
        spec = ClusterSpec(name="x", nodes=nodes, kubernetes=minor)
        needed = [name for name in starting.needed_tools(spec) if name.startswith("kube-")]
        assert needed == [f"{name}{ending}" for name in ("kube-apiserver", "kube-controller-manager", "kube-scheduler")]


def test_a_home_that_is_still_written_to_is_said_and_removed_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A home that another command still writes to is one error, and is removed by the next `sim clean`."""
    layout = Layout(tmp_path / "home")
    layout.backend.mkdir(parents=True)

    def interfered(folder: Path) -> None:
        shutil.rmtree(folder)
        (folder / "logs").mkdir(parents=True)
        folder.rmdir()

    with monkeypatch.context() as patched:
        patched.setattr(cluster, "shutil", SimpleNamespace(rmtree=interfered))
        with pytest.raises(SimulatorError, match=r"another command .* Run this again"):
            cluster.clean(layout.home)
    cluster.clean(layout.home)
    assert not layout.home.exists()
