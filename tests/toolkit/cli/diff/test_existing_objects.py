"""What an update would create and the cluster has."""

from types import SimpleNamespace
from typing import Any

import pytest

from tests.support.reviews import created, made, review, same
from toolkit.cli.diff import command as diff
from toolkit.cli.diff import existing_objects
from toolkit.cli.diff.stack_status import LastUpdate
from toolkit.cli.shared.cluster_client import RefusedError
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.stack import read
from toolkit.review.sentences import bare

SPACE, OTHER = (made("core/v1:Namespace", {"metadata": {"name": each}}) for each in ("audio", "vision"))
QUOTA, FAR = (
    made("core/v1:ResourceQuota", {"metadata": {"name": "gpus", "namespace": each}}) for each in ("audio", "vision")
)
FOUND = review(created(SPACE), created(OTHER), created(QUOTA), created(FAR), same(made("core/v1:Node", {})))


def test_what_is_there_is_reported_with_the_command() -> None:
    """Objects that are to be created and exist are named, with the command that adopts them."""
    asked = []

    def live(*key: str) -> dict[str, Any] | None:
        asked.append(key[1:])
        return {} if key[3] == "audio" or key[2] == "audio" else None

    assert [bare(each) for each in existing_objects.caution(FOUND, live, "--stack lab")] == [
        "2 objects of those to be created are on the cluster already, and the update would fail there: Namespace audio "
        "and ResourceQuota audio/gpus. ./hpc state adopt --stack lab shows how they differ, and adopts them."
    ]
    assert asked == [("Namespace", "", "audio"), ("Namespace", "", "vision"), ("ResourceQuota", "audio", "gpus")]


def test_a_cluster_that_does_not_show_it() -> None:
    """A kind that may not be read, or a cluster that stops answering, does not end the review."""

    def refused(*_: str) -> None:
        raise RefusedError("it", "do it", "403")

    def gone(*_: str) -> None:
        raise Problem("gone", "wait")

    assert list(existing_objects.caution(FOUND, refused, "")) == []
    assert list(existing_objects.caution(FOUND, gone, "")) == []
    assert list(existing_objects.caution(review(same(SPACE)), gone, "")) == []


def test_a_diff_says_it_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """A review begins with existing objects, but not where an interrupted update may have created them."""
    has_all = SimpleNamespace(find=lambda *_: {}, find_all=lambda *_: [], list=lambda *_: [], dry_run=None)
    monkeypatch.setattr("toolkit.cli.shared.session.cluster", lambda _: has_all)
    wanted: Any = SimpleNamespace(options="--stack lab", settings=read("dev").settings)
    (said,) = diff._with_context(wanted, FOUND, LastUpdate()).cautions
    assert bare(said).startswith("4 objects of those to be created are on the cluster already")
    (said,) = diff._with_context(wanted, FOUND, LastUpdate(cut_off=True)).cautions
    assert "was interrupted" in said
