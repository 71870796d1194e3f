"""The comment in the documentation, from a real preview of a change that a team might ask for."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.kit import add_tenant, run_again, settings
from tests.support.clusters import FULL, require_tools
from tests.support.lab import Lab, checkout
from tests.support.recorded import ROOT

pytestmark = pytest.mark.cluster

PAGE = ROOT / "docs" / "example-comment.md"


def _newer_plugin(platform: dict[str, Any]) -> None:
    platform["fabric"]["plugin"]["image"] = "mellanox/k8s-rdma-shared-dev-plugin:v1.0.1"


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[Lab]:
    """Give a lab of its own: a comment on jobs depends on what became of them since."""
    require_tools(FULL)
    with checkout(tmp_path / "lab") as made:
        made.works("up")
        yield made


def test_the_example_is_what_the_command_writes(fresh: Lab, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """The example page is what `./hpc diff` prints, twice the same; `--update-golden` writes it."""
    file = tmp_path / "comment.md"
    with settings(fresh, add_tenant, run_again, _newer_plugin):
        fresh.works("diff", "-o", str(file))
        first = file.read_text()
        fresh.works("diff", "-o", str(file))
    assert file.read_text() == first, "the same change reads otherwise the second time"
    if request.config.getoption("--update-golden"):
        PAGE.write_text(first)
    assert PAGE.read_text() == first
