"""From settings to the cluster that is simulated."""

import json
from pathlib import Path

import pytest

from cli import state
from cli.errors import Problem
from cli.stack import Stack, read
from simulator import state as states
from simulator.home import Layout
from simulator.spec import ClusterSpec
from simulator.state import PortNumbers, State
from stacks.releases import RELEASES, ReleaseName


@pytest.fixture
def dev(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Stack:
    """Give stack dev with its simulated cluster in a folder of the test's own."""
    monkeypatch.setenv("HPC_SIM_HOME", str(tmp_path / "sim"))
    return read("dev")


def _of(stack: Stack, release: ReleaseName) -> Stack:
    return Stack(stack.name, stack.settings.model_copy(update={"release": release}), stack.chosen)


def test_the_release_decides_what_is_simulated(dev: Stack) -> None:
    """A stack of today on an API server with the constraints and the MPI operator of 2020."""
    assert [(spec.release, spec.mpi) for spec in (dev.spec(), _of(dev, "4.20").spec())] == [
        ("4.4", "v1alpha2"),
        ("current", "v2beta1"),
    ]
    assert [node.name for node in dev.spec().nodes] == [node.name for node in dev.settings.nodes]


def test_a_release_that_nothing_serves(dev: Stack) -> None:
    """An update of a 3.11 stack that ends in `no matches for kind` of an API server of today."""
    old = _of(dev, next(name for name, release in RELEASES.items() if release.simulated_as is None))
    for refused in (old.spec, old.require_served, lambda: state.require_same_generation(old)):
        with pytest.raises(Problem, match=r"rendered and checked only[\s\S]*`\./hpc render --stack dev"):
            refused()


def test_a_cluster_of_another_release_is_left_alone(dev: Stack) -> None:
    """A lab of 2020 that becomes one of today under its running jobs, with half of the objects of either."""
    state.require_same_generation(dev)
    made = State(
        spec=ClusterSpec(name="default", release="current", mpi="v2beta1"),
        ports=PortNumbers(api=1, etcd=2, etcd_peer=3, kubelet=4),
    )
    dev.home.mkdir(parents=True)
    states.save(Layout(dev.home), made)
    with pytest.raises(Problem, match=r"release current and MPIJob v2beta1[\s\S]*sim clean --name default"):
        state.require_same_generation(dev)
    state.require_same_generation(_of(dev, "4.20"))


def test_protected_objects_are_named_before_anything_is_deleted(dev: Stack) -> None:
    """Three lines of the engine's for each of forty objects, and no word about what to do with a simulated cluster."""
    checkpoint = dev.backend.checkpoint("dev")
    checkpoint.parent.mkdir(parents=True)
    urn = "urn:pulumi:dev::hpc::hpc:tenants:Tenant$kubernetes:core/v1:Namespace::tenant-{}"
    kept = [{"urn": urn.format(number), "protect": True} for number in range(5)]
    for resources, refused in ((kept, True), ([{"urn": urn.format(9)}], False)):
        checkpoint.write_text(json.dumps({"checkpoint": {"latest": {"resources": resources}}}))
        if not refused:
            state.require_unprotected(dev)
            continue
        with pytest.raises(Problem, match=r"Namespace tenant-0.* and 2 more[\s\S]*sim clean --name default"):
            state.require_unprotected(dev)
