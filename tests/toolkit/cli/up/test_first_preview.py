"""What is printed before an update starts."""

from pathlib import Path
from typing import Any

import pytest

from core.apis import kinds
from tests.support.messages import has
from tests.support.reviews import made, review, updated
from toolkit.cli.diff import engine_reviews
from toolkit.cli.up import first_preview
from toolkit.review.model import Review

NAME = {"name": "gpus", "namespace": "audio"}
BEFORE, AFTER = (
    made("core/v1:ResourceQuota", {"metadata": NAME, "spec": {"hard": {"requests.nvidia.com/gpu": number}}})
    for number in ("8", "16")
)
USERS = {"manager": "kubectl-label", "operation": "Update", "fieldsV1": {"f:metadata": {"f:labels": {"f:team": {}}}}}


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
    return first_preview.show(anything, anything, {}, cluster)


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
