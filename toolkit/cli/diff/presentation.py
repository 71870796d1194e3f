"""What is created of a review: a comment, JSON, and text for the terminal."""

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import typer

from toolkit.cli.ci import comment_thread
from toolkit.cli.shared.console import console, print_text
from toolkit.cli.shared.errors import Problem, explain
from toolkit.cli.shared.options import STANDARD_OUTPUT, write_text
from toolkit.review import comment, json_data, terminal
from toolkit.review.model import Review


def write_comment(path: Path, review: Review) -> Path | None:
    """Write the comment; return the file of the whole review, or None where the comment has all of it."""
    short, long = comment.write(review), comment.write(review, limit=None)
    write_text(path, short)
    _remove_file(comment_thread.whole_file(path))
    if short == long or not path.is_file():  # not /dev/stdout
        return None
    write_text(comment_thread.whole_file(path), long)
    return comment_thread.whole_file(path)


def remove_comment(path: Path) -> None:
    """Remove the files of an earlier review; a link or a device stays."""
    for file in (path, comment_thread.whole_file(path)):
        _remove_file(file)


def _remove_file(path: Path) -> None:
    if path.is_file() and not path.is_symlink():  # not /dev/stdout
        with suppress(OSError):
            path.unlink()


def present(review: Review, output: Path | None, as_json: Path | None) -> None:
    """Write the comment and the JSON where they are requested, and show the review; raise Problem for a bad path.

    Differences of single objects, often thousands of lines, are shown where no file has them.
    """
    comment_thread = _files(review, output, as_json)
    console.print(terminal.write(review, differences=output is None), end="")
    if output not in (None, STANDARD_OUTPUT):
        longer = f"; it was shortened, and the whole review is in {comment_thread}" if comment_thread else ""
        print_text(f"the comment, with what differs in each object, is in {output}{longer}")


@contextmanager
def always(stack: str, output: Path | None, as_json: Path | None, *, drift: bool = False) -> Iterator[None]:
    """Replace an earlier comment by the error where a command fails, and raise it.

    Earlier files are removed first, so that a command which is killed leaves none either.
    """
    for path in filter(None, (output, as_json)):
        remove_comment(path)
    try:
        yield
    except typer.Exit:
        raise
    except Exception as error:
        reason = explain(error) or f"a fault of ./hpc ({type(error).__name__}); its output shows where"
        with suppress(Problem):  # the first error is the one to report
            _files(Review(stack, (), failed=reason, drift=drift), output, as_json)
        raise


def refused(review: Review) -> bool:
    """Whether an update of this would not even begin, or no one knows what it would do."""
    return bool(review.failed or review.unanswered) or any(finding.mandatory for finding in review.findings)


def _files(review: Review, output: Path | None, as_json: Path | None) -> Path | None:
    comment_thread = write_comment(output, review) if output is not None else None
    if as_json is not None:
        write_text(as_json, json.dumps(json_data.of(review), indent=1, sort_keys=True) + "\n")
    return comment_thread
