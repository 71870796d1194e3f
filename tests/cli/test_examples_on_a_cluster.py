"""An example on a simulated cluster, with the real engine: what the engine writes stays with the cluster.

The tests build on each other in the order of the file.
"""

import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from cli import settings_copy
from cli.places import ROOT
from simulator import cluster, tools
from simulator.errors import SimulatorError
from tests.support.clusters import homes

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(300), pytest.mark.xdist_group("hpc-example")]

STACK = "redpaper-4.4"
SECRET = "hpc:scaleGui.csisecret-local.username"


@dataclass(frozen=True)
class Example:
    """The home of the example's cluster, and ./hpc with it."""

    home: Path

    @property
    def copy(self) -> Path:
        """The copy of the settings."""
        return self.home / f"Pulumi.{STACK}.yaml"

    def run(self, *arguments: str, **variables: str) -> tuple[int, str]:
        """Run ./hpc to its end."""
        outside = {key: value for key, value in os.environ.items() if not key.startswith("PULUMI_")}
        done = subprocess.run(
            [ROOT / "hpc", *arguments],
            env={**outside, "HPC_SIM_HOME": str(self.home.parent), **variables},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout


@pytest.fixture(scope="module")
def example() -> Iterator[Example]:
    """Give the example with its cluster, which is removed at the end."""
    try:
        tools.ensure()
    except SimulatorError as error:
        pytest.skip(f"needs the simulated cluster's tools: {error}")
    folder = homes() / f"hpc-example-{os.getpid()}"
    folder.mkdir()
    found = Example(folder / "redpaper-44")
    try:
        status, output = found.run("sim", "up", "--stack", STACK)
        assert status == 0, output
        yield found
    finally:
        cluster.clean(found.home)
        shutil.rmtree(folder)


def _settings() -> dict[str, bytes]:
    """Return all that a stack may be written to in the checkout."""
    return {str(file): file.read_bytes() for file in (*ROOT.glob("Pulumi.*"), *ROOT.glob("stacks/examples/*"))}


def test_the_engine_writes_beside_the_cluster(example: Example) -> None:
    """A salt in an example, or a Pulumi.redpaper-4.4.yaml with nothing else in it, which hides the example."""
    before = _settings()
    status, output = example.run("preview", "--stack", STACK)
    assert status == 0, output
    assert "Placement, stage nccl" in output
    assert _settings() == before
    assert settings_copy.sealed(settings_copy.read(example.copy))


def test_secrets_are_kept_with_the_cluster(example: Example) -> None:
    """A password that is gone at the next command, or that stands in a file of the repository."""
    before = _settings()
    status, output = example.run("pulumi", "--stack", STACK, "config", "set", "--secret", "--path", SECRET, "me")
    assert status == 0, output
    assert example.run("env", "--stack", STACK)[0] == 0
    accounts = settings_copy.read(example.copy)["config"]["hpc:scaleGui"]
    assert set(accounts["csisecret-local"]["username"]) == {"secure"}
    assert _settings() == before


def test_a_copy_that_is_lost_is_made_again(example: Example) -> None:
    """A stack that no command can read any more, where only the passphrase is of importance."""
    example.copy.unlink()
    status, output = example.run("preview", "--stack", STACK)
    assert status == 0, output


def test_what_does_not_fit_the_cluster_is_refused(example: Example) -> None:
    """Another passphrase, or another release, told in the words of the engine or of an API server."""
    status, output = example.run("preview", "--stack", STACK, PULUMI_CONFIG_PASSPHRASE="another")
    assert (status, "has a passphrase of its own" in output) == (1, True)
    for command in (("up",), ("preview",), ("sim", "up")):
        status, output = example.run(*command, "--stack", "redpaper-today", "--name", example.home.name)
        assert status == 1
        assert "`./hpc sim clean --name redpaper-44`" in output
        assert "Traceback" not in output
