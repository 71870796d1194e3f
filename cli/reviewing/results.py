"""What is made of a review: a comment, JSON, and text for the terminal."""

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import typer

from cli.console import console
from cli.errors import Problem, explain
from review import comment, data, text
from review.model import Review


def present(review: Review, output: Path | None, as_json: Path | None) -> None:
    """Write the comment and the JSON where they are asked for, and show the review; raise Problem for a bad path."""
    _files(review, output, as_json)
    console.print(text.write(review), markup=False, end="")
    if output is not None:
        console.print(f"the comment is in {output}", markup=False)


@contextmanager
def always(stack: str, output: Path | None, as_json: Path | None, *, drift: bool = False) -> Iterator[None]:
    """Let no comment of before stand where a command fails: the error is the comment then, and raised.

    Files of before are removed first, so that a command which is killed leaves none either.
    """
    for path in filter(None, (output, as_json)):
        if path.is_file() and not path.is_symlink():  # not /dev/stdout
            with suppress(OSError):
                path.unlink()
    try:
        yield
    except typer.Exit:
        raise
    except Exception as error:
        said = explain(error) or f"a fault of ./hpc ({type(error).__name__}); what it printed says where"
        with suppress(Problem):  # the first error is the one to tell
            _files(Review(stack, (), failed=said, drift=drift), output, as_json)
        raise


def refused(review: Review) -> bool:
    """Whether an update of this would not even begin, or nobody knows what it would do."""
    return bool(review.failed or review.unanswered) or any(finding.mandatory for finding in review.findings)


def _files(review: Review, output: Path | None, as_json: Path | None) -> None:
    if output is not None:
        _write(output, comment.write(review))
    if as_json is not None:
        _write(as_json, json.dumps(data.of(review), indent=1, sort_keys=True) + "\n")


def _write(path: Path, content: str) -> None:
    try:
        path.write_text(content)
    except OSError as error:
        raise Problem(f"cannot write {path}: {error.strerror}", "Name a file in a folder that is there.") from None
