"""The environment in which the engine runs."""

import stat
from pathlib import Path

import pytest
import yaml

from tests.support.commands import finished
from toolkit.cli.pulumi import command as pulumi
from toolkit.cli.shared import environment, passphrases
from toolkit.cli.shared.engine import Engine
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
        passphrases.require(dev, {})
    passphrases.require(dev, {"PULUMI_CONFIG_PASSPHRASE_FILE": "somewhere"})


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
