"""What is left of a review that fails."""

import json
from pathlib import Path

import pytest
import typer

from cli.errors import Problem
from cli.reviewing import results
from review import comment
from review.model import Review


@pytest.mark.parametrize("error", [Problem("x.yaml: 1 wrong\n  a: is -6"), KeyError("a")])
def test_a_failure_is_the_comment(tmp_path: Path, error: Exception) -> None:
    """Prevents the comment of the push before from standing, or being posted again, where settings are wrong."""
    file, data = tmp_path / "c.md", tmp_path / "c.json"
    file.write_text("Nothing changes.")
    seen: list[bool] = []
    with pytest.raises(type(error)):
        _failing(error, file, data, seen)
    assert seen == [False], "the file of before is there while the command runs"
    assert file.read_text().startswith(comment.marker("lab"))
    assert "There is no whole answer: " in file.read_text()
    assert json.loads(data.read_text())["failed"]
    assert ("- a: is -6" in file.read_text()) is isinstance(error, Problem)


def test_an_answer_stays(tmp_path: Path) -> None:
    """Prevents a comment that is overwritten because the change is refused, and a device that is removed."""
    file, link = tmp_path / "c.md", tmp_path / "link"
    link.symlink_to(tmp_path / "target")
    (tmp_path / "target").write_text("x")
    with pytest.raises(typer.Exit):
        _ending(file, link)
    assert file.read_text() == "y"
    assert link.is_symlink()


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    """Prevents that the failure to write hides the failure to tell."""
    with pytest.raises(Problem, match="first"), results.always("lab", tmp_path / "none" / "c.md", None):
        raise Problem("first")


def test_an_answer_without_the_cluster_is_refused() -> None:
    """Prevents a green check on a change that no cluster was asked about."""
    assert results.refused(Review("lab", (), cluster_asked=False, unanswered="it does not answer"))
    assert not results.refused(Review("lab", (), cluster_asked=False))


def _failing(error: Exception, file: Path, data: Path, seen: list[bool]) -> None:
    with results.always("lab", file, data):
        seen.append(file.exists())
        raise error


def _ending(file: Path, link: Path) -> None:
    with results.always("lab", file, link):
        file.write_text("y")
        raise typer.Exit(1)
