"""`./hpc settings`: the settings of a stack in one file, and where each value is from."""

import tempfile
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from core.yaml import text as yaml_text
from stacks.loading.bases import SETTING, Whole
from stacks.loading.settings import SettingsError, whole
from tests.support.recorded import OURS, ROOT
from toolkit.cli import settings
from toolkit.cli.app import app

TEXTS = st.text(st.characters(codec="utf-8"), max_size=20)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | TEXTS
    | st.sampled_from(["a\nb\n", "a\n\n", "\ta\nb", "4.20", "# no\nx"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=12,
)


def shown(*arguments: str) -> str:
    """Return what the command prints."""
    done = CliRunner().invoke(app, ["settings", *arguments])
    assert done.exit_code == 0, done.output
    return done.output


@pytest.mark.parametrize("stack", OURS)
def test_the_output_is_the_stacks_settings(stack: str) -> None:
    """With origins and without them the output is a stack's file, with the settings of the bases in it."""
    expected = {"config": {SETTING: whole(stack, ROOT).data}}
    assert yaml_text.read(shown("--stack", stack)) == expected
    assert yaml_text.read(shown("--stack", stack, "--origin")) == expected


def test_each_value_has_its_file_and_line() -> None:
    """A comment names file and line of each value: of the own file, of a stack's that is its base, and of lists."""
    lines = {line.strip() for line in shown("--stack", "dev", "--origin").splitlines()}
    assert "identifier: redpaper-lab  # Pulumi.dev.yaml:10" in lines
    assert "release: '4.4'  # stacks/examples/redpaper-4.4.yaml:6" in lines
    assert "ca_certificate: |  # stacks/examples/redpaper-4.4.yaml:48" in lines
    lines = {line.strip() for line in shown("--stack", "prod", "--origin").splitlines()}
    assert "package: kueue-operator  # stacks/bases/today-queues.yaml:13" in lines
    assert "image: mpioperator/mpi-operator:0.8.2  # stacks/bases/today.yaml:27" in lines


@given(VALUES)
def test_whatever_the_values_are_the_output_is_yaml(value: Any) -> None:
    """No value makes the output another, or its comments a part of a value."""
    data = {"a": value, "b": [value]}
    content = {"config": {SETTING: data}}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "Pulumi.random.yaml"
        file.write_text(yaml.safe_dump(content))
        for origins in (False, True):
            assert (
                yaml_text.read(
                    settings.written(Whole(data, data, file.name, file.parent), file, file.parent, origins=origins)
                )
                == content
            )


def test_a_file_without_settings_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A file without settings, and a stack that is not there, end in one message."""
    (tmp_path / "Pulumi.bare.yaml").write_text("config: {}\n")
    monkeypatch.setattr("toolkit.cli.settings.ROOT", tmp_path)
    done = CliRunner().invoke(app, ["settings", "--stack", "bare"])
    assert "Pulumi.bare.yaml has no hpc:platform" in str(done.exception)
    done = CliRunner().invoke(app, ["settings", "--stack", "other"])
    assert isinstance(done.exception, SettingsError)
