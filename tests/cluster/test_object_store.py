"""A simulated cluster whose state is in its object store: `./hpc up --backend s3`, as a user runs it.

The tests build on each other in the order of the file.
"""

import os
import signal
from collections.abc import Iterator

import pytest

from simulator import cluster
from simulator.home import Layout
from simulator.processes import Processes
from tests.support.updates import ClusterFolder, cluster_folder

pytestmark = pytest.mark.cluster


@pytest.fixture(scope="module")
def lab() -> Iterator[ClusterFolder]:
    """Give a folder for the cluster, emptied and stopped at the end."""
    with cluster_folder("hpc-object-store") as made:
        yield made


def test_state_is_in_the_bucket(lab: ClusterFolder) -> None:
    """With `--backend s3` the state is in a bucket with versions, tags and no locks left, and in no folder."""
    status, output = lab.run("up", "--backend", "s3")
    assert status == 0, output
    assert not (lab.home / "pulumi").exists()
    assert lab.backend.key("dev").endswith(".json.gz")
    assert len(lab.backend.store.versions(lab.backend.key("dev"))) > 1
    assert lab.backend.tags("dev")["hpc:cluster-uid"]
    assert not lab.backend.locks("dev")
    status, output = lab.run("sim", "status")
    assert "in the simulated object store at http://127.0.0.1:" in output
    assert (lab.home / "logs" / "object-store.log").read_text().startswith("simulated by hpc: an object store")


def test_killed_store_is_named_and_comes_back_with_all_of_it(lab: ClusterFolder) -> None:
    """A killed store is named at once by every command, and after a restart has the whole state."""
    kept = lab.backend.read("dev")
    os.kill(Processes(lab.home).running()["object-store"].pid, signal.SIGKILL)
    for command in (["pulumi", "stack", "ls"], ["preview"], ["down"]):
        status, output = lab.run(*command)
        assert status == 1
        assert "the simulated object store of cluster default does not run" in output
        assert "Traceback" not in output
    assert lab.run("sim", "down")[0] == 0
    assert lab.backend.read("dev") == kept
    status, output = lab.run("up", "--backend", "s3")
    assert status == 0, output
    assert "unchanged" in output.splitlines()[-1]
    assert "created" not in output.splitlines()[-1]
    status, output = lab.run("up", "--backend", f"file://{lab.folder}/elsewhere")
    assert status == 1
    assert "has the state of dev in s3" in output


def test_nothing_is_left(lab: ClusterFolder) -> None:
    """`down` removes every object, and `sim clean` the cluster with its store and the data."""
    status, output = lab.run("down")
    assert status == 0, output
    assert not lab.state().get("resources")
    assert lab.run("sim", "clean")[0] == 0
    assert not lab.home.exists()
    assert cluster.status(lab.home).state == "absent"
    assert not Layout(lab.home).objects.exists()
