"""The environment in which the engine runs, and the passphrase of a stack on a simulated cluster."""

import stat
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from tests.support.commands import finished
from tests.support.stack_settings import data
from tests.support.states import on_real_cluster
from toolkit.cli.pulumi import command as pulumi
from toolkit.cli.shared import environment, settings_copy
from toolkit.cli.shared.engine import Engine
from toolkit.cli.shared.environment import (
    PASSPHRASE,
    PASSPHRASE_FILE,
    make_passphrase,
    passphrase_file,
    require_passphrase,
)
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.stack import Stack, read


def _program(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def test_state_stays_with_its_cluster(dev: Stack, tmp_path: Path) -> None:
    """The state of a simulated cluster is in the cluster's own folder."""
    found = environment.variables(dev, _program(tmp_path / "pulumi"), {"PATH": "/usr/bin"})
    home = tmp_path / "sim" / "default"
    assert found["PULUMI_BACKEND_URL"] == f"file://{home}/pulumi?metadata=skip"
    assert found["PULUMI_HOME"] == str(home / "pulumi-home")
    assert found["KUBECONFIG"] == str(home / "kubeconfig")
    assert found["PULUMI_STACK"] == "dev"
    assert found["PATH"].split(":")[0] == str(tmp_path)


def test_passphrase_of_the_user_wins(dev: Stack, tmp_path: Path) -> None:
    """A passphrase that the user has set is used in place of the public one of dev."""
    pulumi = _program(tmp_path / "pulumi")
    public = environment.variables(dev, pulumi, {"PATH": ""})
    assert public["PULUMI_CONFIG_PASSPHRASE_FILE"] == str(dev.passphrase_file)
    own = environment.variables(dev, pulumi, {"PATH": "", "PULUMI_CONFIG_PASSPHRASE": "mine"})
    assert "PULUMI_CONFIG_PASSPHRASE_FILE" not in own


def test_missing_passphrase_is_named(dev: Stack) -> None:
    """A missing passphrase is named with its variable, in place of the engine's message about salt."""
    with pytest.raises(Problem, match="Set PULUMI_CONFIG_PASSPHRASE"):
        require_passphrase(dev, {})
    require_passphrase(dev, {"PULUMI_CONFIG_PASSPHRASE_FILE": "somewhere"})


def test_downloaded_provider_stays_in_use(dev: Stack, tmp_path: Path) -> None:
    """An installed official provider is used, also where PULUMI_HOME is another folder."""
    own = tmp_path / "own"
    pulumi = _program(tmp_path / "bin" / "pulumi")
    _program(tmp_path / "bin" / "pulumi-language-python")
    outer = {"PATH": str(tmp_path / "bin"), "PULUMI_HOME": str(own), "HOME": str(tmp_path)}
    assert environment.plugins(dev, pulumi, outer).offline == ("resource-kubernetes",)
    _program(own / "plugins" / "resource-kubernetes-v4.34.2" / "pulumi-resource-kubernetes")
    chosen = environment.plugins(dev, pulumi, outer)
    assert chosen.offline == ()
    assert str(own / "plugins" / "resource-kubernetes-v4.34.2") in chosen.path.split(":")


def test_moved_cluster_gets_its_own_settings(dev: Stack, tmp_path: Path) -> None:
    """A second cluster gets a copy of the settings with its own kubeconfig."""
    second = read("dev", "second")
    second.renew_copy()
    assert not second.home.exists()
    second.home.mkdir(parents=True)
    second.renew_copy()
    variables = environment.variables(second, _program(tmp_path / "pulumi"), {"PATH": ""})
    copy = Path(variables["PULUMI_OPTION_CONFIG_FILE"])
    cluster = yaml.safe_load(copy.read_text())["config"]["hpc:platform"]["cluster"]
    assert cluster["kubeconfig"] == str(tmp_path / "sim" / "second" / "kubeconfig")
    assert cluster["context"] == "hpc-sim-second"
    assert cluster["identifier"] == dev.settings.cluster.identifier


def test_settings_are_used_as_they_are(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without another cluster the settings file itself is used, and no earlier copy."""
    monkeypatch.delenv("HPC_SIM_HOME", raising=False)
    outer = {"PATH": "", "PULUMI_OPTION_CONFIG_FILE": "/elsewhere"}
    assert environment.variables(read("dev"), _program(tmp_path / "pulumi"), outer)[environment.SETTINGS] == ""


@pytest.mark.parametrize(
    ("arguments", "own"), [(["export", "--file", "config"], True), (["config", "set", "a", "b"], False)]
)
def test_plain_pulumi_reads_the_settings_of_the_chosen_cluster(
    arguments: list[str], own: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, sim_home: Path
) -> None:
    """`./hpc pulumi --name x` uses x's copy of the settings, and `config set` the stack's own file."""
    seen: list[dict[str, str]] = []

    def run_interactively(self: Engine, *given: str) -> int:
        assert list(given) == arguments
        seen.append(dict(self.environment))
        return 0

    (sim_home / "second").mkdir(parents=True)
    monkeypatch.setattr(Engine, "run_interactively", run_interactively)
    monkeypatch.setattr("toolkit.engine.tools.find", lambda _name, **_: _program(tmp_path / "pulumi"))
    status, output = finished(pulumi.command, "--name", "second", "--", *arguments)
    assert status == 0, output
    copy = sim_home / "second" / "Pulumi.dev.yaml"
    assert seen[0][environment.SETTINGS] == (str(copy) if own else "")
    assert copy.is_file() == own


@pytest.fixture
def lab(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, sim_home: Path) -> Stack:  # noqa: ARG001
    """Give a simulated stack whose file has no secrets and no passphrase beside it, with the folder of its cluster."""
    settings = {"config": {"hpc:platform": data("dev")}}
    (tmp_path / "Pulumi.lab.yaml").write_text(yaml.safe_dump(settings))
    for module in ("stack", "environment"):
        monkeypatch.setattr(f"toolkit.cli.shared.{module}.ROOT", tmp_path)
    found = read("lab", "lab")
    found.home.mkdir(parents=True)
    return found


def test_a_passphrase_is_made_once(lab: Stack) -> None:
    """A random passphrase is created once, readable by its owner only."""
    assert passphrase_file(lab, {}) == str(lab.own_passphrase_file)
    make_passphrase(lab, {})
    made = lab.own_passphrase_file.read_text()
    assert len(made) >= 32
    assert lab.own_passphrase_file.stat().st_mode & 0o077 == 0
    make_passphrase(lab, {})
    assert lab.own_passphrase_file.read_text() == made
    assert [path.name for path in lab.home.iterdir()] == [lab.own_passphrase_file.name]


def test_no_passphrase_is_made_where_one_is_given(lab: Stack) -> None:
    """The user's passphrase is used where one is given, also an empty one."""
    for outer in ({PASSPHRASE: "mine"}, {PASSPHRASE: ""}, {PASSPHRASE_FILE: "/home/me/phrase"}):
        assert passphrase_file(lab, outer) is None
        make_passphrase(lab, outer)
        assert not lab.own_passphrase_file.exists()


def test_no_passphrase_is_made_for_what_another_has_encrypted(lab: Stack) -> None:
    """No passphrase is created for settings that another has encrypted; the user's is required."""
    lab.renew_copy()
    content = settings_copy.read(lab.copy)
    lab.copy.write_text(yaml.safe_dump({**content, "encryptionsalt": "v1:salt"}))
    make_passphrase(lab, {})
    assert not lab.own_passphrase_file.exists()
    with pytest.raises(Problem, match=f"Set {PASSPHRASE}"):
        require_passphrase(lab, {PASSPHRASE_FILE: str(lab.own_passphrase_file)})
    require_passphrase(lab, {PASSPHRASE: "mine"})


def test_another_passphrase_than_the_clusters_is_named(lab: Stack) -> None:
    """Another passphrase than the cluster's own is refused, with the variable to unset."""
    make_passphrase(lab, {})
    require_passphrase(lab, {PASSPHRASE_FILE: str(lab.own_passphrase_file)})
    with pytest.raises(Problem, match=f"unset {PASSPHRASE}"):
        require_passphrase(lab, {PASSPHRASE: "mine"})


def test_what_an_earlier_env_exported_is_not_the_users(lab: Stack, tmp_path: Path) -> None:
    """A passphrase file that an earlier `./hpc pulumi --print-env` exported is not taken for the user's."""
    exported = {PASSPHRASE_FILE: str(lab.own_passphrase_file)}
    (tmp_path / "Pulumi.dev.yaml").write_text((tmp_path / "Pulumi.lab.yaml").read_text())
    other = Stack("dev", lab.settings, "other")
    assert passphrase_file(other, exported) == str(other.own_passphrase_file)
    public = tmp_path / "stacks/dev.passphrase"
    public.parent.mkdir()
    public.write_text("public")
    assert passphrase_file(Stack("dev", lab.settings), exported) == str(public)
    real = replace(on_real_cluster(lab), name="real", chosen=None)
    assert passphrase_file(real, exported) == ""
    assert passphrase_file(real, {PASSPHRASE_FILE: "/home/me/Pulumi.lab.passphrase"}) is None


def test_no_folder_for_a_cluster_that_is_not_there(lab: Stack) -> None:
    """No folder is created for a cluster that does not exist."""
    lab.home.rmdir()
    make_passphrase(lab, {})
    lab.renew_copy()
    assert not lab.home.exists()
