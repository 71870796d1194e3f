"""What commands leave: a file of text where the user names one, JSON on standard output for a program."""

import json
from pathlib import Path
from typing import Any

from cli.shared.errors import Problem


def write_text(path: Path, content: str) -> None:
    """Write a file, and its folder where there is none; raise Problem where that cannot be."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    except OSError as error:
        raise Problem(f"{path} cannot be written: {error.strerror or error}", "Name another file.") from None


def print_json(content: Any, *, sort_keys: bool = False) -> None:
    """Print a value as JSON."""
    print(json.dumps(content, indent=2, sort_keys=sort_keys))  # noqa: T201 - for a program
