"""An example on a simulated cluster, with the real engine: what the engine writes stays with the cluster.

The tests build on each other in the order of the file.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.updates import ClusterFolder, cluster_folder
from toolkit.cli.shared import settings_copy
from toolkit.cli.shared.paths import ROOT

pytestmark = pytest.mark.cluster

STACK = "redpaper-4.4"
SECRET = "hpc:scaleGui.csisecret-local.username"


@pytest.fixture(scope="module")
def example() -> Iterator[ClusterFolder]:
    """Give the example with its cluster, which is removed at the end."""
    with cluster_folder("hpc-example", "redpaper-44") as found:
        status, output = found.run("sim", "up", "--stack", STACK)
        assert status == 0, output
        yield found


def _copy(example: ClusterFolder) -> Path:
    """Return the copy of the settings."""
    return example.home / f"Pulumi.{STACK}.yaml"


def _settings() -> dict[str, bytes]:
    """Return all that a stack may be written to in the checkout."""
    return {str(file): file.read_bytes() for file in (*ROOT.glob("Pulumi.*"), *ROOT.glob("stacks/examples/*.yaml"))}


def test_the_engine_writes_beside_the_cluster(example: ClusterFolder) -> None:
    """The engine's keys and secrets are written beside the cluster, and no file of the checkout changes."""
    before = _settings()
    status, output = example.run("pulumi", "preview", "--stack", STACK)
    assert status == 0, output
    assert "Placement, stage nccl" in output
    assert _settings() == before
    assert settings_copy.sealed(settings_copy.read(_copy(example)))


def test_secrets_are_kept_with_the_cluster(example: ClusterFolder) -> None:
    """Secrets are stored with the cluster, and are there at the next command."""
    before = _settings()
    status, output = example.run("pulumi", "--stack", STACK, "config", "set", "--secret", "--path", SECRET, "me")
    assert status == 0, output
    assert example.run("pulumi", "--print-env", "--stack", STACK)[0] == 0
    accounts = settings_copy.read(_copy(example))["config"]["hpc:scaleGui"]
    assert set(accounts["csisecret-local"]["username"]) == {"secure"}
    assert _settings() == before


def test_a_copy_that_is_lost_is_made_again(example: ClusterFolder) -> None:
    """A lost copy of the settings is created again, and the passphrase opens the state."""
    _copy(example).unlink()
    status, output = example.run("pulumi", "preview", "--stack", STACK)
    assert status == 0, output


def test_what_does_not_fit_the_cluster_is_refused(example: ClusterFolder) -> None:
    """Another passphrase or release than the cluster's is refused with a message of ./hpc."""
    status, output = example.run("pulumi", "preview", "--stack", STACK, PULUMI_CONFIG_PASSPHRASE="another")
    assert (status, "has a passphrase of its own" in output) == (1, True)
    for command in (("up",), ("pulumi", "preview"), ("sim", "up")):
        status, output = example.run(*command, "--stack", "redpaper-today", "--name", example.home.name)
        assert status == 1
        assert "`./hpc sim clean --name redpaper-44`" in output
        assert "Traceback" not in output
