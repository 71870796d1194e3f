"""A simulated cluster whose state is in its object store: `./hpc up --backend s3`, as a user runs it."""

import os
import signal
from pathlib import Path

import pytest

from core.apis import kinds
from tests.support.lab import Lab
from toolkit.cli.shared.backends.backend import Backend
from toolkit.cli.shared.simulated import backend as simulated_backend
from toolkit.simulator import cluster
from toolkit.simulator.actors.api import ApiError
from toolkit.simulator.home import Layout
from toolkit.simulator.processes.supervisor import Processes

pytestmark = pytest.mark.cluster


@pytest.fixture
def home(lab: Lab) -> Path:
    """Give the home of the cluster."""
    return lab.kubeconfig.parent


@pytest.fixture
def backend(home: Path) -> Backend:
    """Give the stack's state."""
    return simulated_backend.of_cluster(home)


def test_state_is_in_the_bucket(lab: Lab, home: Path, backend: Backend) -> None:
    """With `--backend s3` the state is in a bucket with versions, tags and no locks left, and in no folder."""
    assert not (home / "pulumi").exists()
    assert backend.key("dev").endswith(".json.gz")
    assert len(backend.store.versions(backend.key("dev"))) > 1
    assert backend.tags("dev")["hpc:cluster-uid"]
    assert not backend.locks("dev")
    assert "in the simulated object store at http://127.0.0.1:" in lab.works("sim", "status")
    assert (home / "logs" / "object-store.log").read_text().startswith("simulated by hpc: an object store")


def test_killed_store_is_named_and_comes_back_with_all_of_it(lab: Lab, home: Path, backend: Backend) -> None:
    """A killed store is named at once by every command, and after a restart has the whole state."""
    kept = backend.read("dev")
    os.kill(Processes(home).running()["object-store"].pid, signal.SIGKILL)
    for command in (["pulumi", "stack", "ls"], ["pulumi", "preview"], ["destroy"]):
        assert "the simulated object store of cluster default does not run" in lab.fails(*command)
    lab.works("sim", "down")
    assert simulated_backend.of_cluster(home).read("dev") == kept
    last = lab.works("up", "--backend", "s3").splitlines()[-1]
    assert "unchanged" in last
    assert "created" not in last
    elsewhere = f"file://{lab.root.parent}/elsewhere"
    assert "has the state of dev in s3" in lab.fails("up", "--backend", elsewhere)


def ours(lab: Lab) -> list[str]:
    """Return all objects that carry our label, of every kind that the platform knows."""
    found = []
    for kind in kinds.KINDS:
        try:
            items = lab.api.list(kind, selector="app.kubernetes.io/part-of=hpc")["items"]
        except ApiError as error:
            if not error.missing:
                raise
            continue  # a kind that is no longer served has no objects
        found += [f"{kind.kind} {item['metadata'].get('namespace', '')}/{item['metadata']['name']}" for item in items]
    return found


def test_nothing_is_left(lab: Lab, home: Path) -> None:
    """`destroy` removes all objects, namespaces and labels on nodes; `sim clean` the cluster with store and data."""
    assert ours(lab)
    lab.works("destroy")
    assert not simulated_backend.of_cluster(home).checkpoint("dev").get("resources")
    assert ours(lab) == []
    assert not [
        node["metadata"]["name"] for node in lab.api.list(kinds.NODE)["items"] if "scale" in node["metadata"]["labels"]
    ]
    assert lab.api.find(kinds.CUSTOM_RESOURCE_DEFINITION, "mpijobs.kubeflow.org") is None
    lab.works("sim", "clean")
    assert not home.exists()
    assert cluster.status(home).state == "absent"
    assert not Layout(home).objects.exists()
