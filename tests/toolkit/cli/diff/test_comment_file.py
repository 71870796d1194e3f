"""The files of a comment."""

from pathlib import Path

from tests.support.reviews import created, made, review
from toolkit.cli.diff import comment_file
from toolkit.review import comment

DATA = {f"key{number}": "x" * 40 for number in range(40)}
LONG = review(*(created(made("core/v1:ConfigMap", {"metadata": {"name": f"c{n}"}, "data": DATA})) for n in range(50)))


def test_a_review_that_fits_is_one_file(tmp_path: Path) -> None:
    """A comment that has all of the review is alone; the whole review of an earlier run is removed."""
    file, short = tmp_path / "dev.md", review()
    (tmp_path / "dev.whole.md").write_text("of before")
    assert comment_file.write(file, short) is None
    assert {each.name: each.read_text() for each in tmp_path.iterdir()} == {"dev.md": comment.write(short)}


def test_a_review_that_does_not_fit_is_whole_beside(tmp_path: Path) -> None:
    """Beside a comment that was shortened is the whole review; both are removed together."""
    file = tmp_path / "dev.md"
    whole = comment_file.write(file, LONG)
    assert whole == tmp_path / "dev.whole.md"
    assert (file.read_text(), whole.read_text()) == (comment.write(LONG), comment.write(LONG, limit=None))
    assert len(file.read_text()) < len(whole.read_text())
    comment_file.remove(file)
    assert list(tmp_path.iterdir()) == []


def test_a_device_has_no_file_beside() -> None:
    """A comment to a device is written as it is, and nothing beside the device."""
    assert comment_file.write(Path("/dev/null"), LONG) is None
