"""Adopted objects and their fields in a user's file, which keeps its comments."""

from pathlib import Path

import pytest

from stacks.loading import settings
from tests.support.recorded import ROOT
from toolkit.cli.shared.errors import Problem
from toolkit.cli.state.adopt import settings_file
from toolkit.cli.state.adopt.settings_file import Addition

DEV = (ROOT / "stacks" / "examples" / "redpaper-4.4.yaml").read_text()


def test_the_list_is_added_and_grows(tmp_path: Path) -> None:
    """The list is added to the settings, grows, and keeps the rest of the file."""
    file = tmp_path / "Pulumi.dev.yaml"
    file.write_text(DEV)
    assert settings_file.add(file, Addition(("Namespace/adas", "Role/adas/mpi"), {}))
    assert settings.load("dev", tmp_path).adopted == ("Namespace/adas", "Role/adas/mpi")
    more = Addition(("ConfigMap/kube-system/rdma-devices", "Namespace/adas", "Role/adas/mpi"), {})
    assert settings_file.add(file, more)
    assert not settings_file.add(file, more)
    assert settings.load("dev", tmp_path).adopted == more.adopted
    kept = [line for line in file.read_text().splitlines() if "adopted" not in line and "- " not in line]
    assert kept == [line for line in DEV.splitlines() if "- " not in line]


def test_fields_are_added_beside_others(tmp_path: Path) -> None:
    """Fields of an object are written after those of others, whose comments stay, and merge with its own."""
    file = tmp_path / "Pulumi.dev.yaml"
    text = DEV + "    extra:\n      Namespace/adas:  # ours\n        metadata:\n          labels: {team: vision}\n"
    file.write_text(text)
    script = {"data": {"script": "a\nb\n", "gone": None}}
    assert settings_file.add(file, Addition((), {"ConfigMap/adas/x": script}))
    assert file.read_text().startswith(text)
    labels = {"metadata": {"labels": {"cost": "1"}}}
    assert settings_file.add(file, Addition((), {"Namespace/adas": labels}))
    both = {"metadata": {"labels": {"team": "vision", "cost": "1"}}}
    assert settings.load("dev", tmp_path).extra == {"Namespace/adas": both, "ConfigMap/adas/x": script}


@pytest.mark.parametrize("ending", ["", "\n", "\n\n# the end\n"])
def test_it_may_be_the_last_thing(tmp_path: Path, ending: str) -> None:
    """The list is appended on lines of its own, whatever the end of the file."""
    file = tmp_path / "Pulumi.x.yaml"
    file.write_text(f"config:\n  hpc:platform:\n    a: 1\n    b:\n      - 2{ending}")
    assert settings_file.add(file, Addition(("Node/n",), {}))
    assert file.read_text().startswith(
        "config:\n  hpc:platform:\n    a: 1\n    b:\n      - 2\n    adopted:\n      - Node/n\n"
    )


@pytest.mark.parametrize("text", ["config: {'hpc:platform': {a: 1}}\n", "config:\n  hpc:platform: &x {}\n"])
def test_a_file_written_another_way_is_left_alone(tmp_path: Path, text: str) -> None:
    """A file in another form is left as it is, and the error has the lines to add."""
    file = tmp_path / "Pulumi.x.yaml"
    file.write_text(text)
    with pytest.raises(Problem, match="- Node/n"):
        settings_file.add(file, Addition(("Node/n",), {}))
    assert file.read_text() == text
