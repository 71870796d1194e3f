"""What an update would create and the cluster has."""

from types import SimpleNamespace
from typing import Any

import pytest

from cli.commands import diff
from cli.errors import Problem
from cli.live import RefusedError
from cli.reviewing import already
from cli.reviewing.standing import Standing
from review.words import bare
from tests.support.reviews import created, made, review, same

SPACE, OTHER = (made("core/v1:Namespace", {"metadata": {"name": each}}) for each in ("audio", "vision"))
QUOTA, FAR = (
    made("core/v1:ResourceQuota", {"metadata": {"name": "gpus", "namespace": each}}) for each in ("audio", "vision")
)
FOUND = review(created(SPACE), created(OTHER), created(QUOTA), created(FAR), same(made("core/v1:Node", {})))


def test_what_is_there_is_told_with_the_command() -> None:
    """Prevents an update that fails half-way at a namespace which the review called new."""
    asked = []

    def live(*key: str) -> dict[str, Any] | None:
        asked.append(key[1:])
        return {} if key[3] == "audio" or key[2] == "audio" else None

    assert [bare(each) for each in already.told(FOUND, live, "--stack lab")] == [
        "2 objects of those to be created are on the cluster already, and the update would fail there: Namespace audio "
        "and ResourceQuota audio/gpus. ./hpc adopt --stack lab shows how they differ, and takes them over."
    ]
    assert asked == [("Namespace", "", "audio"), ("Namespace", "", "vision"), ("ResourceQuota", "audio", "gpus")]


def test_a_cluster_that_does_not_show_it() -> None:
    """Prevents a review that fails because somebody may not read one kind, or because the cluster went away."""

    def refused(*_: str) -> None:
        raise RefusedError("it", "do it", "403")

    def gone(*_: str) -> None:
        raise Problem("gone", "wait")

    assert list(already.told(FOUND, refused, "")) == []
    assert list(already.told(FOUND, gone, "")) == []
    assert list(already.told(review(same(SPACE)), gone, "")) == []


def test_a_diff_says_it_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Prevents a sentence that no command says, and advice to adopt what an unfinished update has made."""
    has_all = SimpleNamespace(find=lambda *_: {}, every=lambda *_: [])
    monkeypatch.setattr("cli.session.cluster", lambda _: has_all)
    wanted: Any = SimpleNamespace(options="--stack lab")
    (said,) = diff._told(wanted, FOUND, Standing()).cautions
    assert bare(said).startswith("4 objects of those to be created are on the cluster already")
    (said,) = diff._told(wanted, FOUND, Standing(cut_off=True)).cautions
    assert "cut off" in said
