"""The preview of an update: one that repeats the last needs none, and removed fields are named."""

import os
from pathlib import Path
from typing import Any

import pytest

from core.apis import kinds
from tests.support.messages import has
from tests.support.reviews import made, review, updated
from toolkit.cli.diff import engine_reviews
from toolkit.cli.shared import stack as stacks
from toolkit.cli.shared.engine import Engine
from toolkit.cli.shared.stack import Stack
from toolkit.cli.up import previews
from toolkit.cli.up.previews import SKIPPED, Repetition
from toolkit.review.model import Review

NAME = {"name": "gpus", "namespace": "audio"}
BEFORE, AFTER = (
    made("core/v1:ResourceQuota", {"metadata": NAME, "spec": {"hard": {"requests.nvidia.com/gpu": number}}})
    for number in ("8", "16")
)
USERS = {"manager": "kubectl-label", "operation": "Update", "fieldsV1": {"f:metadata": {"f:labels": {"f:team": {}}}}}


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a repository with a program, and a folder for simulated clusters."""
    root = tmp_path / "repository"
    (root / "out").mkdir(parents=True)
    (root / "__main__.py").write_text("first")
    monkeypatch.setattr(previews, "ROOT", root)
    monkeypatch.setenv("HPC_SIM_HOME", str(tmp_path / "sim"))
    return root


def _update(stack: Stack | None = None, *, succeeds: bool = True, gpus: int = 8, **variables: str) -> tuple[str, ...]:
    engine = Engine(Path(os.__file__), "dev", variables)
    update = Repetition(stack or stacks.read("dev"), engine, {"gpu-limit": {"maximum": gpus}})
    omitted = update.begin()
    if succeeds:
        update.succeed()
    return omitted


def test_repeated_update_omits_its_preview(root: Path) -> None:
    """The first update has a preview, the next has none; what commands write is no part of it."""
    assert _update() == ()
    (root / "out" / "dev.md").write_text("new")
    assert _update() == SKIPPED
    assert _update() == SKIPPED


def test_update_of_something_else_has_a_preview(root: Path) -> None:
    """A file of the program, a parameter of a policy or a variable that has changed asks for a preview."""
    assert _update() == ()
    (root / "__main__.py").write_text("second version")
    assert _update() == ()
    assert _update(gpus=4) == ()
    assert _update(gpus=4, HPC_TOOLS="/elsewhere") == ()
    assert _update(gpus=4, HPC_TOOLS="/elsewhere") == SKIPPED


@pytest.mark.usefixtures("root")
def test_update_after_a_failed_one_has_a_preview() -> None:
    """What was begun and did not succeed is previewed again."""
    assert _update() == ()
    assert _update(succeeds=False) == SKIPPED
    assert _update() == ()


@pytest.mark.usefixtures("root")
def test_real_cluster_always_has_a_preview() -> None:
    """Nothing is recorded of a stack on a real cluster."""
    settings = stacks.read("dev").settings
    cluster = settings.cluster.model_copy(update={"simulated": False})
    real = Stack("dev", settings.model_copy(update={"cluster": cluster}))
    assert not real.simulated
    assert _update(real) == ()
    assert _update(real) == ()


class Quota:
    """A cluster with the quota, which a user has labelled."""

    def find(self, *_: str) -> dict[str, Any]:
        """Return the quota."""
        metadata = {**NAME, "labels": {"team": "a"}, "managedFields": [USERS]}
        return {"apiVersion": "v1", "kind": kinds.RESOURCE_QUOTA.kind, **AFTER.inputs, "metadata": metadata}

    def dry_run(self, body: dict[str, Any]) -> dict[str, Any]:
        """Return what the server would make of an object: nothing is filled in."""
        return body


def show(monkeypatch: pytest.MonkeyPatch, made: Review, *, empty: bool = False) -> tuple[tuple[str, ...], int]:
    """Return the arguments of an update whose preview is given."""
    monkeypatch.setattr(engine_reviews, "is_empty", lambda _: empty)
    monkeypatch.setattr(engine_reviews, "preview", lambda *_: made)
    anything: Any = Path()
    cluster: Any = Quota()
    return previews.show_removed_fields(anything, anything, {}, cluster)


def test_removed_fields_are_named_before_the_update(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The fields that an update removes are printed, and it then has no second preview."""
    assert show(monkeypatch, review(updated(BEFORE, AFTER))) == (("--skip-preview",), 1)
    assert has(" ".join(capsys.readouterr().err.split()), "ResourceQuota audio/gpus", "metadata.labels.team", "extra")


def test_the_engine_shows_what_is_refused(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A refused update is left to the engine's own preview, and so is a first one, which removes nothing."""
    assert show(monkeypatch, review(updated(BEFORE, AFTER), failed="no")) == ((), 0)
    assert show(monkeypatch, review(updated(BEFORE, AFTER)), empty=True) == ((), 0)
    assert capsys.readouterr().err == ""
