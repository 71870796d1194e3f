"""Fixtures with a running cluster. Tools that are missing are built, as `make test` does on a clean machine."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from toolkit.engine import tools
from toolkit.engine.errors import SimulatorError
from toolkit.simulator import cluster
from toolkit.simulator.cluster import Cluster, ClusterSpec, NodeSpec
from toolkit.simulator.start import needed_tools

LAB = "ocp4.scale.ibm.com"
LAB_NODES = (
    NodeSpec(name=f"master01.{LAB}", roles=("master",)),
    NodeSpec(name=f"worker03.{LAB}"),
    NodeSpec(name=f"dgx01.{LAB}", profile="dgx1-v100-16gb"),
    NodeSpec(name=f"dgx02.{LAB}", profile="dgx1-v100-16gb"),
)
BARE = ClusterSpec(name="test-bare", actors=False)
FULL = ClusterSpec(name="test-full", nodes=LAB_NODES)


def homes() -> Path:
    """Where the clusters of tests live; removes, and stops, those of test runs that were killed."""
    root = Path(tempfile.gettempdir()) / f"hpc-tests-{os.getuid()}"
    root.mkdir(mode=0o700, exist_ok=True)
    for old in root.iterdir():
        owner = old.name.rpartition("-")[2]
        if owner.isdigit() and not Path(f"/proc/{owner}").exists():
            # Some tests have a folder of several clusters.
            for home in (*filter(Path.is_dir, old.iterdir()), old):
                with suppress(SimulatorError, FileNotFoundError):
                    cluster.clean(home)
            shutil.rmtree(old, ignore_errors=True)
    return root


def require_tools(spec: ClusterSpec) -> None:
    """Find or build the tools for `spec`; without a Go to build them the test is a stated skip, under CI a failure."""
    try:
        tools.ensure(needed_tools(spec))
    except SimulatorError as error:
        pytest.skip(f"needs the simulated cluster's tools: {error}")


@contextmanager
def running(spec: ClusterSpec) -> Iterator[Cluster]:
    """Run a cluster of `spec` in a home of its own, and remove it at the end."""
    require_tools(spec)
    home = homes() / f"{spec.name}-{os.getpid()}"
    shutil.rmtree(home, ignore_errors=True)
    try:
        yield cluster.up(spec, home)
    finally:
        if home.exists():
            cluster.clean(home)


@pytest.fixture(scope="session")
def bare_api() -> Iterator[Cluster]:
    """Give a real API server with its controllers and OpenShift's own definitions; no nodes, no actors."""
    with running(BARE) as started:
        yield started


@pytest.fixture(scope="session")
def simulated_cluster() -> Iterator[Cluster]:
    """Give the whole simulated cluster: control plane, nodes of the lab, actors."""
    with running(FULL) as started:
        yield started
