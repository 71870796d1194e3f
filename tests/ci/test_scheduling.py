"""Layers are divided among workers by what shares a cluster, the longest first, and import no other layer's tests."""

from pathlib import Path

import pytest

from tests.support.recorded import OURS, ROOT
from tests.support.scheduling import APART, LAB, LONGEST, TOGETHER, needless, scope


@pytest.mark.parametrize(
    ("nodeid", "whole"),
    [
        ("tests/cluster/kueue/test_topology.py::test_a", "tests/cluster/kueue"),
        ("tests/cluster/test_layers.py::test_a[b::c]", "tests/cluster/test_layers.py"),
        ("tests/cluster/test_stacks.py::test_a[b]", "tests/cluster/test_stacks.py::test_a[b]"),
        ("tests/cluster/test_redpaper.py::test_a", LAB),
        ("tests/cluster/test_reviews.py::test_a", LAB),
        ("tests/engine/test_language.py::test_a", "tests/engine/test_language.py"),
    ],
)
def test_one_worker_has_what_shares_a_cluster(nodeid: str, whole: str) -> None:
    """A file is one worker's, and so is a folder whose files share a cluster; tests that share nothing are divided."""
    assert scope(nodeid) == whole


def test_names_of_the_order_exist() -> None:
    """Files and folders that are scheduled by name exist, and so does the example that takes longest."""
    names = {*APART, *TOGETHER, *LONGEST} - {*TOGETHER.values()}
    assert {name for name in names if not (ROOT / name.partition("::")[0]).exists()} == set()
    assert {name.partition("[")[2].rstrip("]") for name in LONGEST if "[" in name} <= {*OURS}


def test_only_files_without_a_layer_are_passed_over(tmp_path: Path) -> None:
    """A run of one layer imports the files that have its mark; any other choice imports all."""
    file, helper = tmp_path / "test_some.py", tmp_path / "conftest.py"
    file.write_text("pytestmark = pytest.mark.engine\n")
    helper.write_text("")
    assert needless(file, "cluster")
    assert needless(file, "cluster or browser")
    assert not needless(file, "engine")
    assert not needless(helper, "cluster")
    assert not any(
        needless(file, chosen) for chosen in ("", "unit", "not engine", "engine or cluster", "unit or cluster")
    )
