"""What is created of a review: a comment, JSON, and text for the terminal."""

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import typer

from toolkit.cli.diff import comment_file
from toolkit.cli.shared.console import console, print_text
from toolkit.cli.shared.errors import Problem, explain
from toolkit.cli.shared.options import STANDARD_OUTPUT, write_text
from toolkit.review import json_data, terminal
from toolkit.review.model import Review


def present(review: Review, output: Path | None, as_json: Path | None) -> None:
    """Write the comment and the JSON where they are requested, and show the review; raise Problem for a bad path.

    Differences of single objects, often thousands of lines, are shown where no file has them.
    """
    whole = _files(review, output, as_json)
    console.print(terminal.write(review, differences=output is None), end="")
    if output not in (None, STANDARD_OUTPUT):
        longer = f"; it was shortened, and the whole review is in {whole}" if whole else ""
        print_text(f"the comment, with what differs in each object, is in {output}{longer}")


@contextmanager
def always(stack: str, output: Path | None, as_json: Path | None, *, drift: bool = False) -> Iterator[None]:
    """Replace an earlier comment by the error where a command fails, and raise it.

    Earlier files are removed first, so that a command which is killed leaves none either.
    """
    for path in filter(None, (output, as_json)):
        comment_file.remove(path)
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
    whole = comment_file.write(output, review) if output is not None else None
    if as_json is not None:
        write_text(as_json, json.dumps(json_data.of(review), indent=1, sort_keys=True) + "\n")
    return whole
