"""What several tests of `./hpc suite` need."""

from pathlib import Path

import pytest

from toolkit.cli.shared import identity, stack_checks
from toolkit.cli.shared.stack import Stack, read


@pytest.fixture
def suite_stack(sim_home: Path, monkeypatch: pytest.MonkeyPatch) -> Stack:  # noqa: ARG001 - it says where clusters are
    """Give a stack with a suite, on a cluster that is its own."""
    monkeypatch.setattr(stack_checks, "require_own_cluster", lambda _: None)
    monkeypatch.setattr(identity, "require_unless_forbidden", lambda *_: None)
    return read("h200-infiniband")
