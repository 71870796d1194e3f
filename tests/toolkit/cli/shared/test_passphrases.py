"""Which passphrase a stack on a simulated cluster has."""

from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from tests.support.stack_settings import data
from tests.support.states import on_real_cluster
from toolkit.cli.shared import passphrases, settings_copy
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.passphrases import FILE, PASSPHRASE
from toolkit.cli.shared.stack import Stack, read


@pytest.fixture
def lab(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, sim_home: Path) -> Stack:  # noqa: ARG001
    """Give a simulated stack whose file has no secrets and no passphrase beside it, with the folder of its cluster."""
    settings = {"config": {"hpc:platform": data("dev")}}
    (tmp_path / "Pulumi.lab.yaml").write_text(yaml.safe_dump(settings))
    for module in ("stack", "passphrases"):
        monkeypatch.setattr(f"toolkit.cli.shared.{module}.ROOT", tmp_path)
    found = read("lab", "lab")
    found.home.mkdir(parents=True)
    return found


def test_a_passphrase_is_made_once(lab: Stack) -> None:
    """A random passphrase is created once, readable by its owner only."""
    assert passphrases.file(lab, {}) == str(lab.own_passphrase_file)
    passphrases.make(lab, {})
    made = lab.own_passphrase_file.read_text()
    assert len(made) >= 32
    assert lab.own_passphrase_file.stat().st_mode & 0o077 == 0
    passphrases.make(lab, {})
    assert lab.own_passphrase_file.read_text() == made
    assert [path.name for path in lab.home.iterdir()] == [lab.own_passphrase_file.name]


def test_no_passphrase_is_made_where_one_is_given(lab: Stack) -> None:
    """The user's passphrase is used where one is given, also an empty one."""
    for outer in ({PASSPHRASE: "mine"}, {PASSPHRASE: ""}, {FILE: "/home/me/phrase"}):
        assert passphrases.file(lab, outer) is None
        passphrases.make(lab, outer)
        assert not lab.own_passphrase_file.exists()


def test_no_passphrase_is_made_for_what_another_has_encrypted(lab: Stack) -> None:
    """No passphrase is created for settings that another has encrypted; the user's is required."""
    lab.renew_copy()
    content = settings_copy.read(lab.copy)
    lab.copy.write_text(yaml.safe_dump({**content, "encryptionsalt": "v1:salt"}))
    passphrases.make(lab, {})
    assert not lab.own_passphrase_file.exists()
    with pytest.raises(Problem, match=f"Set {PASSPHRASE}"):
        passphrases.require(lab, {FILE: str(lab.own_passphrase_file)})
    passphrases.require(lab, {PASSPHRASE: "mine"})


def test_another_passphrase_than_the_clusters_is_named(lab: Stack) -> None:
    """Another passphrase than the cluster's own is refused, with the variable to unset."""
    passphrases.make(lab, {})
    passphrases.require(lab, {FILE: str(lab.own_passphrase_file)})
    with pytest.raises(Problem, match=f"unset {PASSPHRASE}"):
        passphrases.require(lab, {PASSPHRASE: "mine"})


def test_what_an_earlier_env_exported_is_not_the_users(lab: Stack, tmp_path: Path) -> None:
    """A passphrase file that an earlier `./hpc pulumi --print-env` exported is not taken for the user's."""
    exported = {FILE: str(lab.own_passphrase_file)}
    (tmp_path / "Pulumi.dev.yaml").write_text((tmp_path / "Pulumi.lab.yaml").read_text())
    other = Stack("dev", lab.settings, "other")
    assert passphrases.file(other, exported) == str(other.own_passphrase_file)
    public = tmp_path / "stacks/dev.passphrase"
    public.parent.mkdir()
    public.write_text("public")
    assert passphrases.file(Stack("dev", lab.settings), exported) == str(public)
    real = replace(on_real_cluster(lab), name="real", chosen=None)
    assert passphrases.file(real, exported) == ""
    assert passphrases.file(real, {FILE: "/home/me/Pulumi.lab.passphrase"}) is None


def test_no_folder_for_a_cluster_that_is_not_there(lab: Stack) -> None:
    """No folder is created for a cluster that does not exist."""
    lab.home.rmdir()
    passphrases.make(lab, {})
    lab.renew_copy()
    assert not lab.home.exists()
