"""The copy of the settings that the engine reads and writes in place of their file."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from stacks.loading.settings import load
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.paths import ROOT
from toolkit.cli.shared.settings_copy import read, renew, sealed
from toolkit.cli.shared.stack import Stack

CLUSTER = {"kubeconfig": "/sim/lab/kubeconfig", "context": "hpc-sim-lab"}
SECRET = {"secure": "v1:abc"}
SALT = {"encryptionsalt": "v1:salt"}


def _settings(release: str = "4.20", **more: Any) -> dict[str, Any]:
    platform = {"release": release, "cluster": {"kubeconfig": "x", "context": "y", "identifier": "lab"}}
    return {"config": {"hpc:platform": platform}, **more}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Give a settings file."""
    path = tmp_path / "settings.yaml"
    path.write_text(yaml.safe_dump(_settings()))
    return path


def _add(copy: Path, **more: Any) -> None:
    """Write into the copy, as the engine does."""
    content = read(copy)
    content["config"] |= more.pop("config", {})
    copy.write_text(yaml.safe_dump(content | more))


def test_the_copy_names_the_cluster(file: Path, tmp_path: Path) -> None:
    """The copy names its own cluster, with the identity that the settings have."""
    renew(file, tmp_path / "copy", CLUSTER)
    assert read(tmp_path / "copy")["config"]["hpc:platform"]["cluster"] == {**CLUSTER, "identifier": "lab"}
    assert read(file) == _settings()


def test_the_copy_follows_the_file_and_keeps_the_secrets(file: Path, tmp_path: Path) -> None:
    """Changes of the file are in the copy, which retains its secrets and their salt."""
    copy = tmp_path / "copy"
    renew(file, copy, CLUSTER)
    _add(copy, config={"hpc:scaleGui": {"local": {"username": SECRET, "note": "plain"}}, "hpc:other": "plain"}, **SALT)
    file.write_text(yaml.safe_dump(_settings("4.4")))
    renew(file, copy, CLUSTER)
    found = read(copy)
    assert found["config"]["hpc:platform"]["release"] == "4.4"
    assert found["config"]["hpc:scaleGui"] == {"local": {"username": SECRET}}
    assert "hpc:other" not in found["config"]
    assert found["encryptionsalt"] == "v1:salt"


def test_a_secret_is_not_put_over_the_files_own_value(file: Path, tmp_path: Path) -> None:
    """A secret of the copy does not replace a value that the file has since."""
    copy = tmp_path / "copy"
    renew(file, copy, CLUSTER)
    _add(copy, config={"hpc:scaleGui": SECRET, "hpc:pull": {"a": SECRET, "b": SECRET}}, **SALT)
    content = _settings()
    content["config"] |= {"hpc:scaleGui": "plain", "hpc:pull": {"a": "plain"}}
    file.write_text(yaml.safe_dump(content))
    renew(file, copy, CLUSTER)
    assert read(copy)["config"]["hpc:scaleGui"] == "plain"
    assert read(copy)["config"]["hpc:pull"] == {"a": "plain", "b": SECRET}


def test_secrets_of_the_file_hold(file: Path, tmp_path: Path) -> None:
    """Secrets of the file replace those of the copy, with their salt."""
    copy = tmp_path / "copy"
    renew(file, copy, CLUSTER)
    _add(copy, config={"hpc:scaleGui": {"old": SECRET}}, **SALT)
    content = _settings(encryptionsalt="v1:other")
    content["config"]["hpc:scaleGui"] = {"new": {"secure": "v1:new"}}
    file.write_text(yaml.safe_dump(content))
    renew(file, copy, CLUSTER)
    assert read(copy)["config"]["hpc:scaleGui"] == {"new": {"secure": "v1:new"}}
    assert read(copy)["encryptionsalt"] == "v1:other"


def test_nothing_is_written_where_nothing_changed(file: Path, tmp_path: Path) -> None:
    """An unchanged copy is not written, so that it replaces no change of the engine."""
    copy = tmp_path / "copy"
    renew(file, copy, CLUSTER)
    before = copy.stat().st_ino
    renew(file, copy, CLUSTER)
    assert copy.stat().st_ino == before
    assert copy.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("text", ["config: [", "", "- a\n", "\udcff"])
def test_a_copy_that_was_not_written_to_its_end(text: str, file: Path, tmp_path: Path) -> None:
    """An incomplete copy is created again."""
    copy = tmp_path / "copy"
    copy.write_bytes(text.encode(errors="surrogateescape"))
    renew(file, copy, CLUSTER)
    assert read(copy)["config"]["hpc:platform"]["release"] == "4.20"


def test_who_holds_secrets() -> None:
    """A file has secrets where it has keys of the engine's encryption."""
    assert sealed(_settings(**SALT))
    assert sealed(_settings(encryptedkey="x"))
    assert not sealed(_settings())
    assert not sealed(None)


def test_settings_that_do_not_fit_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings that are too long for an environment variable are refused by name (pulumi #8680)."""
    file = tmp_path / "Pulumi.dev.yaml"
    monkeypatch.setattr(Stack, "file", file)
    dev = Stack("dev", load("dev", ROOT))
    for text, fits in (("a" * 131_000, True), ("a" * 131_060, False), ('"' * 40_000, False)):
        content = {"config": {"hpc:platform": {"a": text}}}
        file.write_text(yaml.safe_dump(content, width=1_000_000))
        variable = {"PULUMI_CONFIG": json.dumps({"hpc:platform": json.dumps({"a": text}, separators=(",", ":"))})}
        try:
            subprocess.run(["true"], env=variable, check=True)
            taken = True
        except OSError:
            taken = False
        assert taken is fits
        if fits:
            dev.require_passable()
        else:
            with pytest.raises(Problem, match=r"docs/guide/several-stacks\.md"):
                dev.require_passable()
