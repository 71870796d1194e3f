"""What is left of a review that fails."""

import json
from pathlib import Path

import pytest
import typer

from tests.support.reviews import created, made, review
from toolkit.cli.diff import presentation
from toolkit.cli.shared.errors import Problem
from toolkit.review import comment
from toolkit.review.model import Review

DATA = {f"key{number}": "x" * 40 for number in range(40)}
LONG = review(*(created(made("core/v1:ConfigMap", {"metadata": {"name": f"c{n}"}, "data": DATA})) for n in range(50)))


@pytest.mark.parametrize("error", [Problem("x.yaml: 1 wrong\n  a: is -6"), KeyError("a")])
def test_a_failure_is_the_comment(tmp_path: Path, error: Exception) -> None:
    """A command that fails removes an earlier comment first, and writes the reason as the comment."""
    file, data = tmp_path / "c.md", tmp_path / "c.json"
    file.write_text("Nothing changes.")
    seen: list[bool] = []
    with pytest.raises(type(error)):
        _failing(error, file, data, seen)
    assert seen == [False], "the file of before is there while the command runs"
    assert file.read_text().startswith(comment.marker("lab"))
    assert "The result is incomplete: " in file.read_text()
    assert json.loads(data.read_text())["failed"]
    assert ("- a: is -6" in file.read_text()) is isinstance(error, Problem)


def test_an_answer_stays(tmp_path: Path) -> None:
    """A written comment stays when the change is refused; a link is not removed."""
    file, link = tmp_path / "c.md", tmp_path / "link"
    link.symlink_to(tmp_path / "target")
    (tmp_path / "target").write_text("x")
    with pytest.raises(typer.Exit):
        _ending(file, link)
    assert file.read_text() == "y"
    assert link.is_symlink()


def test_a_comment_that_cannot_be_written(tmp_path: Path) -> None:
    """The first error is raised, also where the comment of it cannot be written."""
    (tmp_path / "file").write_text("")
    with pytest.raises(Problem, match="first"), presentation.always("lab", tmp_path / "file" / "c.md", None):
        raise Problem("first")


def test_an_answer_without_the_cluster_is_refused() -> None:
    """A review is refused where the cluster should have been queried and was not."""
    assert presentation.refused(Review("lab", (), cluster_queried=False, unanswered="it does not answer"))
    assert not presentation.refused(Review("lab", (), cluster_queried=False))


def _failing(error: Exception, file: Path, data: Path, seen: list[bool]) -> None:
    with presentation.always("lab", file, data):
        seen.append(file.exists())
        raise error


def _ending(file: Path, link: Path) -> None:
    with presentation.always("lab", file, link):
        file.write_text("y")
        raise typer.Exit(1)


def test_a_review_that_fits_is_one_file(tmp_path: Path) -> None:
    """A comment that has all of the review is alone; the whole review of an earlier run is removed."""
    file, short = tmp_path / "dev.md", review()
    (tmp_path / "dev.whole.md").write_text("of before")
    assert presentation.write_comment(file, short) is None
    assert {each.name: each.read_text() for each in tmp_path.iterdir()} == {"dev.md": comment.write(short)}


def test_a_review_that_does_not_fit_is_whole_beside(tmp_path: Path) -> None:
    """Beside a comment that was shortened is the whole review; both are removed together."""
    file = tmp_path / "dev.md"
    whole = presentation.write_comment(file, LONG)
    assert whole == tmp_path / "dev.whole.md"
    assert (file.read_text(), whole.read_text()) == (comment.write(LONG), comment.write(LONG, limit=None))
    assert len(file.read_text()) < len(whole.read_text())
    presentation.remove_comment(file)
    assert list(tmp_path.iterdir()) == []


def test_a_device_has_no_file_beside() -> None:
    """A comment to a device is written as it is, and nothing beside the device."""
    assert presentation.write_comment(Path("/dev/null"), LONG) is None
