"""The comment in the documentation, from a real preview of a change that a team might ask for."""

from pathlib import Path
from typing import Any

import pytest

from tests.cluster.kit import add_tenant, run_again, settings
from tests.support.lab import Lab
from tests.support.recorded import ROOT

pytestmark = pytest.mark.cluster

PAGE = ROOT / "docs" / "reference" / "example-comment.md"


def _newer_plugin(platform: dict[str, Any]) -> None:
    platform["fabric"]["plugin"]["image"] = "mellanox/k8s-rdma-shared-dev-plugin:v1.0.1"


def test_the_example_is_what_the_command_writes(lab: Lab, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """The example page is what `./hpc diff` prints; `--update-golden` writes it."""
    file = tmp_path / "comment.md"
    with settings(lab, add_tenant, run_again, _newer_plugin):
        lab.works("diff", "-o", str(file))
    if request.config.getoption("--update-golden"):
        PAGE.write_text(file.read_text())
    assert PAGE.read_text() == file.read_text()
