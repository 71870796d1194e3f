"""Simulated clusters of tests are in a folder of the test's own."""

from pathlib import Path

import pytest

from toolkit.cli.shared.stack import Stack, read


@pytest.fixture
def sim_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Give the folder of the simulated clusters, with nothing in it."""
    home = tmp_path / "sim"
    monkeypatch.setenv("HPC_SIM_HOME", str(home))
    return home


@pytest.fixture
def dev(sim_home: Path) -> Stack:  # noqa: ARG001 - it says where clusters are
    """Give stack dev, whose simulated cluster does not exist."""
    return read("dev")
