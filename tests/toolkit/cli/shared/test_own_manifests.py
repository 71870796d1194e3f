"""Manifests of a stack's own, before an update."""

from dataclasses import replace
from pathlib import Path

import pytest

from toolkit.cli.shared import own_manifests
from toolkit.cli.shared import stack as stacks
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.stack import Stack

SERVICE = """\
apiVersion: v1
kind: Service
metadata: {name: dash, namespace: adas}
spec:
  FIELD: {app: dash}
  ports: [{port: 80}]
"""


@pytest.fixture
def stack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stack:
    """Give a stack whose folder of objects is in a project of the test's own."""
    monkeypatch.setattr(own_manifests, "ROOT", tmp_path)
    (tmp_path / "objects").mkdir()
    read = stacks.read("dev")
    return replace(read, settings=read.settings.model_copy(update={"objects": ("objects",)}))


def test_a_field_that_the_provider_would_drop_is_refused_with_its_line(stack: Stack, tmp_path: Path) -> None:
    """A misspelt field of a Kubernetes kind is refused before the engine starts: no policy of the engine sees it."""
    (tmp_path / "objects" / "dash.yaml").write_text(SERVICE.replace("FIELD", "selctor"))
    with pytest.raises(Problem, match=r"objects/dash\.yaml:5:3: Service adas/dash, spec\.selctor: .*selector"):
        own_manifests.require(stack)


def test_known_fields_pass(stack: Stack, tmp_path: Path) -> None:
    """A manifest whose fields the API knows passes, and so does a stack without any."""
    (tmp_path / "objects" / "dash.yaml").write_text(SERVICE.replace("FIELD", "selector"))
    own_manifests.require(stack)
    own_manifests.require(stacks.read("dev"))
