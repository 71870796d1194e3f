"""What comes before the engine's own work."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.support.reviews import review
from tests.support.states import on_real_cluster
from toolkit.cli.diff import command as diff
from toolkit.cli.diff import commits, engine_reviews, stack_status
from toolkit.cli.shared import environment, session
from toolkit.cli.shared.engine import Engine
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.paths import ROOT
from toolkit.cli.shared.session import provider_permission
from toolkit.cli.shared.simulated.backend import record as choose_folder
from toolkit.cli.shared.stack import Stack, read
from toolkit.engine.plugins.locate import OFFLINE_FOLDER, PROVIDER


@pytest.mark.usefixtures("sim_home")
def test_a_new_stack_leaves_no_line_in_the_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A new stack changes no settings file: `stack init` writes its salt in a folder of its own."""
    seen: list[tuple[Path, list[str]]] = []

    def call(_: Engine, *arguments: str, folder: Path = ROOT) -> str:
        assert arguments == ("stack", "init", "prod")
        seen.append((folder, sorted(path.name for path in folder.iterdir())))
        return ""

    monkeypatch.setattr(Engine, "call", call)
    stack = read("prod", "lab")
    stack.home.mkdir(parents=True)
    session.prepare(stack, Engine(tmp_path / "pulumi", "prod", {}))
    ((folder, files),) = seen
    assert folder != ROOT
    assert files == ["Pulumi.yaml"]
    assert not folder.exists()
    assert stack.copy.is_file()
    assert stack.own_passphrase_file.is_file()


@pytest.mark.usefixtures("sim_home")
def test_attributes_that_a_kill_cut_are_removed_before_the_engine_runs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Empty attributes beside a state or its tags are removed, those of other stacks stay."""
    folder = tmp_path / "states" / ".pulumi" / "stacks" / "hpc"
    folder.mkdir(parents=True)
    for name in ("dev.json", "dev.pulumi-tags", "other.json"):
        (folder / name).write_text("{}")
        (folder / f"{name}.attrs").touch()
    monkeypatch.setattr("toolkit.engine.tools.find", lambda *_, **__: tmp_path / "pulumi")
    stack = read("dev", "lab")
    choose_folder(stack.home, folder.parents[2].as_uri())
    session.engine(stack)
    assert sorted(path.name for path in folder.glob("*.attrs")) == ["other.json.attrs"]


@pytest.mark.usefixtures("sim_home")
def test_the_engine_has_its_temporary_files_with_the_cluster(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The official provider leaves a kubeconfig in the temporary folder: on a simulated cluster it goes with that."""
    monkeypatch.setattr("toolkit.engine.tools.find", lambda *_, **__: tmp_path / "pulumi")
    stack = read("dev", "lab")
    stack.home.mkdir(parents=True)
    folder = session.engine(stack).environment["TMPDIR"]
    assert Path(folder) == stack.home / "tmp"
    assert Path(folder).is_dir()


@pytest.fixture
def without_plugins(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Give the engine of a machine without official plugins."""
    for name in ("HPC_PLUGINS", "PULUMI_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    return tmp_path / "bin" / "pulumi"


def test_a_real_cluster_is_refused_without_the_official_provider(dev: Stack, without_plugins: Path) -> None:
    """The message names the plugin, how to install, mirror or find it, and the setting that allows the stand-in."""
    real = on_real_cluster(dev, offline_provider=False)
    with pytest.raises(Problem) as refused:
        session.require_provider(real, without_plugins)
    for part in (
        *("pulumi-resource-kubernetes is not installed", "stack dev is on a real cluster"),
        *("pulumi plugin install resource kubernetes 4.34.2", "PULUMI_PLUGIN_DOWNLOAD_URL_OVERRIDES", "HPC_PLUGINS"),
        *("cluster.offline_provider: true` in Pulumi.dev.yaml", "docs/guide/operations.md"),
    ):
        assert part in str(refused.value)
    path = environment.variables(real, without_plugins, {"PATH": str(OFFLINE_FOLDER)})["PATH"]
    assert not [folder for folder in path.split(":") if (Path(folder) / f"pulumi-{PROVIDER}").exists()]


def test_the_stand_in_on_a_real_cluster_is_reported(
    dev: Stack, without_plugins: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where the settings allow it, a warning names it, the setting and the reason; none on a simulated cluster."""
    session.require_provider(dev, without_plugins)
    assert capsys.readouterr().err == ""
    session.print_plugins(on_real_cluster(dev), without_plugins)
    warning = capsys.readouterr().err
    assert "offline stand-in" in warning
    assert "cluster.offline_provider is true in Pulumi.dev.yaml" in warning
    assert "no official pulumi-resource-kubernetes is installed" in warning


def test_the_official_provider_needs_no_setting(
    dev: Stack, without_plugins: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the official provider on PATH a real cluster is neither refused nor warned of."""
    official = without_plugins.with_name(f"pulumi-{PROVIDER}")
    official.parent.mkdir()
    official.write_text("#!/bin/sh\n")
    official.chmod(0o755)
    for allowed in (False, True):
        chosen = session.require_provider(on_real_cluster(dev, offline_provider=allowed), without_plugins)
        assert chosen.find(PROVIDER).binary == official
    assert capsys.readouterr().err == ""


def test_a_review_of_settings_reports_the_permission(dev: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    """A comparison of commits, which has no engine, names the setting; on a simulated cluster it has no effect."""
    settings = on_real_cluster(dev).settings
    monkeypatch.setattr("stacks.loading.settings.load", lambda *_: settings)
    unchanged = commits.Side(commits.WORKING_TREE, ROOT, [])
    (caution,) = commits._review("dev", unchanged, unchanged, None).cautions
    assert "cluster.offline_provider" in caution
    assert provider_permission(dev.settings.cluster) == ""


def test_a_review_by_the_stand_in_reports_it(
    dev: Stack, without_plugins: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`./hpc diff` begins with a caution, whether the cluster answers or not."""
    engine = SimpleNamespace(program=without_plugins)
    monkeypatch.setattr(session, "engine", lambda _: engine)
    monkeypatch.setattr(session, "prepare", lambda *_: None)
    monkeypatch.setattr(engine_reviews, "unanswered", lambda *_: Problem("the API server does not answer"))
    monkeypatch.setattr(engine_reviews, "preview", lambda *_: review())
    monkeypatch.setattr(engine_reviews, "drift_if_up", lambda *_: None)
    monkeypatch.setattr(stack_status, "last_update", lambda _: stack_status.LastUpdate(cut_off=True))
    first, interrupted = diff._previewed(on_real_cluster(dev), None, None).cautions
    assert "offline stand-in" in first
    assert "interrupted" in interrupted
