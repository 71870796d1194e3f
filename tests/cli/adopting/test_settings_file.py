"""The list of adopted objects in a person's file, which keeps its comments."""

from pathlib import Path

import pytest

from cli.adopting import settings_file
from cli.errors import Problem
from stacks import settings
from tests.support.recorded import ROOT

DEV = (ROOT / "Pulumi.dev.yaml").read_text()


def test_the_list_is_added_and_grows(tmp_path: Path) -> None:
    """Prevents a list that is not read, or that loses what was adopted before."""
    file = tmp_path / "Pulumi.dev.yaml"
    file.write_text(DEV)
    assert settings_file.add(file, ["Role/adas/mpi", "Namespace/adas"])
    assert settings.load("dev", tmp_path).adopted == ("Namespace/adas", "Role/adas/mpi")
    assert settings_file.add(file, ["ConfigMap/kube-system/rdma-devices"])
    assert not settings_file.add(file, ["Role/adas/mpi"])
    assert len(settings.load("dev", tmp_path).adopted) == 3
    kept = [line for line in file.read_text().splitlines() if "adopted" not in line and "- " not in line]
    assert kept == [line for line in DEV.splitlines() if "- " not in line]


@pytest.mark.parametrize("ending", ["", "\n", "\n\n# the end\n"])
def test_it_may_be_the_last_thing(tmp_path: Path, ending: str) -> None:
    """Prevents a line that goes on the end of another."""
    file = tmp_path / "Pulumi.x.yaml"
    file.write_text(f"config:\n  hpc:platform:\n    a: 1\n    b:\n      - 2{ending}")
    assert settings_file.add(file, ["Node/n"])
    assert file.read_text().startswith(
        "config:\n  hpc:platform:\n    a: 1\n    b:\n      - 2\n    adopted:\n      - Node/n\n"
    )


@pytest.mark.parametrize("text", ["config: {'hpc:platform': {a: 1}}\n", "config:\n  hpc:platform: &x {}\n"])
def test_a_file_written_another_way_is_left_alone(tmp_path: Path, text: str) -> None:
    """Prevents a broken file: the lines are told instead."""
    file = tmp_path / "Pulumi.x.yaml"
    file.write_text(text)
    with pytest.raises(Problem, match="- Node/n"):
        settings_file.add(file, ["Node/n"])
    assert file.read_text() == text
