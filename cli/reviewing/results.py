"""What is made of a review: a comment, JSON, and text for the terminal."""

import json
from pathlib import Path

from cli.console import console
from cli.errors import Problem
from review import comment, data, text
from review.model import Review


def present(review: Review, output: Path | None, as_json: Path | None) -> None:
    """Write the comment and the JSON where they are asked for, and show the review; raise Problem for a bad path."""
    if output is not None:
        _write(output, comment.write(review))
    if as_json is not None:
        _write(as_json, json.dumps(data.of(review), indent=1, sort_keys=True) + "\n")
    console.print(text.write(review), markup=False, end="")
    if output is not None:
        console.print(f"the comment is in {output}", markup=False)


def refused(review: Review) -> bool:
    """Whether an update of this would not even begin, or nobody knows what it would do."""
    return bool(review.failed) or any(finding.mandatory for finding in review.findings)


def _write(path: Path, content: str) -> None:
    try:
        path.write_text(content)
    except OSError as error:
        raise Problem(f"cannot write {path}: {error.strerror}", "Name a file in a folder that is there.") from None
