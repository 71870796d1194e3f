"""`./hpc up` as a user runs it: the real engine, the simulated cluster, one home for all tests of this module.

The tests build on each other in the order of the file: each leaves the stack up.
"""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator

import pytest

from tests.engine.kit import wait_until
from tests.support.updates import ClusterFolder, cluster_folder
from toolkit.cli.shared.errors import Problem

pytestmark = pytest.mark.cluster

JOBS = (
    "adas/mofed-test-job",
    "adas/nv-nccl-dgx01",
    "adas/nv-nccl-dgx02",
    "adas/nccl-test-01x08",
    "adas/nccl-test-02x08",
    "adas/nccl-test-16x01",
    "adas/tf2-resnet50-01x08x01",
    "adas/tf2-resnet50-02x08x02",
    "adas/tf2-a2d2-08x01x01-gpu",
    "adas/tf2-a2d2-16x01x02-gpu",
)


@pytest.fixture(scope="module")
def lab() -> Iterator[ClusterFolder]:
    """Give a folder for the clusters, emptied and stopped at the end."""
    with cluster_folder("hpc-up") as made:
        yield made


def _wait(lab: ClusterFolder, process: subprocess.Popen[str], kind: str) -> int:
    """Wait until the engine has a create of `kind` under way; return the engine's pid."""
    deadline = time.monotonic() + 240
    while time.monotonic() < deadline:
        assert process.poll() is None, process.communicate()[0]
        try:
            pending = lab.state().get("pending_operations") or []
        except Problem:  # half-written
            pending = []
        for operation in pending if isinstance(pending, list) else []:
            if operation["resource"]["type"].endswith(f":{kind}"):
                (lock,) = lab.backend.locks("dev")
                return lock.pid
        time.sleep(0.05)
    raise AssertionError(f"no create of a {kind} within 240 s")


def test_killed_first_update_is_continued(lab: ClusterFolder) -> None:
    """After kill -9 of the engine the next `up` releases the lock, imports what was created, and finishes."""
    first = lab.start("up")
    os.kill(_wait(lab, first, "Subscription"), signal.SIGKILL)
    output, _ = first.communicate(timeout=600)
    assert first.returncode != 0
    assert "the engine was killed (signal 9)" in output
    assert "Traceback" not in output

    status, output = lab.run("up")
    assert status == 0, output
    assert "removed the lock of process" in output
    assert "is on the cluster, and now in the state" in output
    for job in JOBS:
        assert any(line.split()[:1] == [job] and "Succeeded" in line for line in output.splitlines()), output
    assert not lab.state().get("pending_operations")


def test_second_update_reuses_everything_and_a_third_ends_at_once(lab: ClusterFolder) -> None:
    """A second `up` reuses the engine and the cluster, and creates nothing; during it another ends with one message."""
    lock = lab.home.with_name(f".{lab.home.name}.update.lock")
    second = lab.start("up")
    wait_until(lambda: lock.exists() and lock.read_text() == str(second.pid), 600)
    status, refused = lab.run("up")
    output, _ = second.communicate(timeout=600)
    assert status == 1
    assert "is already updating stack dev" in refused
    assert "Traceback" not in refused
    assert second.returncode == 0, output
    assert "reusing pulumi" in output
    assert "reusing simulated cluster default" in output
    assert output.endswith("stack dev is up; objects on the cluster: 53 unchanged\n")


def test_status_reads_live(lab: ClusterFolder) -> None:
    """The status is read from the cluster."""
    status, output = lab.run("status")
    assert status == 0, output
    assert "shared_ib0, shared_ib1, shared_ib2, shared_ib3: 100" in output
    assert "adas-data-pvc Bound" in output


def test_unreachable_cluster(lab: ClusterFolder) -> None:
    """A stopped cluster is named as that, with the command that starts it."""
    assert lab.run("sim", "down")[0] == 0
    status, output = lab.run("status")
    assert status == 1
    assert "is stopped" in output
    assert "`./hpc up --stack dev` starts it" in output
    assert "Traceback" not in output


def test_state_whose_cluster_is_gone(lab: ClusterFolder) -> None:
    """A state whose cluster is gone is refused, with the command that removes both."""
    shutil.rmtree(lab.home / "data")
    status, output = lab.run("up")
    assert status == 1
    assert "./hpc sim clean" in output
    assert lab.run("sim", "clean")[0] == 0
    assert not lab.home.exists()
