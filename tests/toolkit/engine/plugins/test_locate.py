"""Which plugins the engine gets, and from where."""

from pathlib import Path

import pytest

from tests.support.messages import has
from toolkit.engine.errors import SimulatorError
from toolkit.engine.plugins.announcement import announcement
from toolkit.engine.plugins.locate import LANGUAGE, OFFLINE_FOLDER, PROVIDER, plugin_choice


def _executable(path: Path, script: str = "") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    """Give the environment of a user without any plugin."""
    return {"HOME": str(tmp_path), "PATH": str(tmp_path / "bin")}


def test_stand_ins_come_last_on_path(home: dict[str, str]) -> None:
    """Without official plugins both are stand-ins, behind everything else on PATH, and the line says so."""
    choice = plugin_choice(home)
    assert choice.path == f"{home['PATH']}:{OFFLINE_FOLDER}"
    assert choice.offline == (LANGUAGE, PROVIDER)
    line = announcement(choice)
    assert has(line, "stand-ins", "pulumi-language-python", "pulumi-resource-kubernetes", "README")
    assert "official pulumi-" not in line
    assert plugin_choice({**home, "PATH": choice.path}) == choice


def test_only_the_missing_plugin_is_a_stand_in(home: dict[str, str], tmp_path: Path) -> None:
    """The folder of a stand-in hides nothing that the engine would find in its own plugin folder."""
    _executable(tmp_path / "bin" / "pulumi")
    language = _executable(tmp_path / "bin" / "pulumi-language-python")
    choice = plugin_choice(home)
    assert choice.offline == (PROVIDER,)
    assert choice.find(LANGUAGE).binary == language
    folder = Path(choice.path.rpartition(":")[2])
    assert [path.name for path in folder.iterdir()] == ["pulumi-resource-kubernetes"]


def test_a_stand_in_that_may_not_be_used_is_missing(home: dict[str, str], tmp_path: Path) -> None:
    """PATH leads to no stand-in but those that may be used, whatever an earlier PATH had; an official one is taken."""
    choice = plugin_choice({**home, "PATH": plugin_choice(home).path}, (LANGUAGE,))
    assert choice.path == f"{home['PATH']}:{OFFLINE_FOLDER / LANGUAGE}"
    assert (choice.offline, choice.missing) == ((LANGUAGE,), (PROVIDER,))
    _executable(tmp_path / "bin" / "pulumi-resource-kubernetes")
    choice = plugin_choice(home, (LANGUAGE,))
    assert (choice.offline, choice.missing) == ((LANGUAGE,), ())


def test_a_downloaded_plugin_is_put_on_path(home: dict[str, str], tmp_path: Path) -> None:
    """The user's own plugin folder serves, though the engine of a simulated cluster has another PULUMI_HOME."""
    plugins = tmp_path / ".pulumi" / "plugins"
    for version in ("4.9.1", "4.34.2", "4.35.0"):
        _executable(plugins / f"resource-kubernetes-v{version}" / "pulumi-resource-kubernetes")
    choice = plugin_choice(home)
    assert choice.path.split(":")[0] == str(plugins / "resource-kubernetes-v4.34.2")  # the version of the SDK
    assert choice.find(PROVIDER).place == str(plugins)
    (plugins / "resource-kubernetes-v4.34.2" / "pulumi-resource-kubernetes").unlink()
    assert plugin_choice(home).path.split(":")[0] == str(plugins / "resource-kubernetes-v4.35.0")


def test_the_named_folder_comes_first(home: dict[str, str], tmp_path: Path) -> None:
    """HPC_PLUGINS wins over PATH for the plugins that it has, and leaves the others where they are."""
    _executable(tmp_path / "bin" / "pulumi-resource-kubernetes")
    _executable(tmp_path / "bin" / "pulumi-language-python")
    named = _executable(tmp_path / "named" / "pulumi-resource-kubernetes")
    choice = plugin_choice({**home, "HPC_PLUGINS": str(named.parent)})
    assert choice.path == f"{named.parent}:{home['PATH']}"
    assert [plugin.place for plugin in choice.plugins] == ["PATH", "HPC_PLUGINS"]


def test_a_named_folder_without_plugins_is_refused(home: dict[str, str], tmp_path: Path) -> None:
    """A misspelt HPC_PLUGINS would otherwise be a run on the stand-ins."""
    with pytest.raises(SimulatorError, match=r"HPC_PLUGINS=.*/nothing has neither of .*: name .* or unset"):
        plugin_choice({**home, "HPC_PLUGINS": str(tmp_path / "nothing")})


def test_a_stand_in_is_never_official(home: dict[str, str], tmp_path: Path) -> None:
    """A stand-in that HPC_PLUGINS names, or that a link in a folder of PATH leads to, is not taken for Pulumi's."""
    other = tmp_path / "linked"
    other.mkdir()
    for name in ("pulumi-language-python", "pulumi-resource-kubernetes"):
        (other / name).symlink_to(OFFLINE_FOLDER / name)
    for variables in ({"HPC_PLUGINS": str(OFFLINE_FOLDER)}, {"PATH": f"{other}:{home['PATH']}"}):
        choice = plugin_choice({**home, **variables}, stand_ins=())
        assert choice.missing == (LANGUAGE, PROVIDER)
        assert str(other) not in choice.path


@pytest.mark.engine  # starts the stand-ins
def test_a_plugin_that_does_not_start_is_announced(home: dict[str, str], tmp_path: Path) -> None:
    """The version is what the plugin reports; one that cannot report it does not stop the update here."""
    _executable(tmp_path / "bin" / "pulumi-resource-kubernetes", "exit 1")
    for name in ("pulumi-language-python", "pulumi-resource-kubernetes"):  # as if they were official
        _executable(tmp_path / "official" / name, f'exec {OFFLINE_FOLDER / name} "$@"')
    choice = plugin_choice({**home, "HPC_PLUGINS": str(tmp_path / "official")})
    reported = announcement(choice)
    assert reported.startswith("plugins: official pulumi-language-python ")
    assert "pulumi-resource-kubernetes 4.34.2 (HPC_PLUGINS)" in reported
    broken = plugin_choice(home)
    assert "pulumi-resource-kubernetes of unknown version (PATH)" in announcement(broken)
