"""`./hpc data diff`: two locks of a data set compared."""

from pathlib import Path
from typing import Annotated, Any

import typer

from core.datasets import lock
from core.datasets.lock import Lock
from toolkit.cli.data import chosen
from toolkit.cli.shared.console import console
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.options import JsonOption, print_json
from toolkit.datasets import comparison, file_list
from toolkit.datasets.comparison import Difference
from toolkit.review import data_set_changes, markdown, terminal
from toolkit.review.section import Line, section
from toolkit.review.sentences import name

Before = Annotated[Path, typer.Argument(metavar="A", help="Older lock.")]
After = Annotated[Path, typer.Argument(metavar="B", help="Newer lock.")]
MarkdownOption = Annotated[bool, typer.Option("--markdown", help="Print Markdown, for a comment.")]


def command(before: Before, after: After, *, plain: JsonOption = False, as_markdown: MarkdownOption = False) -> None:
    """Show what changes from one lock to another.

    Frames, bytes, and the classes that gain and lose frames. Added and removed files are counted, too, if the lists are
    still next to their locks.
    """
    if plain and as_markdown:
        raise Problem("--json and --markdown are two forms of the same", "Give one of them.")
    old, new = lock.read(before), lock.read(after)
    files = _files(before, old, after, new)
    if plain:
        print_json(_data(old, new, files))
        return
    lines = [*data_set_changes.lines(f"data set {name(new.name)}", old, new)]
    if files and any(files):
        lines.append(Line(f"{files[0]:,} files come, and {files[1]:,} go"))
    section_of_sets = section("Data sets", lines or [Line("both locks are equal")])
    assert section_of_sets is not None  # noqa: S101 - it has a line
    text = markdown.written(section_of_sets) if as_markdown else terminal.of_section(section_of_sets)
    console.print(text)


def _files(before: Path, old: Lock, after: Path, new: Lock) -> tuple[int, int] | None:
    """Return how many files come and go; None where a list is not there, or is another one's."""
    lists = []
    for place, made in ((before, old), (after, new)):
        file = chosen.list_file(place)
        listed = file.read_bytes() if file.is_file() else b""
        if file_list.digest(listed) != made.digest:
            return None
        lists.append(set(file_list.read(listed, str(file))))
    return len(lists[1] - lists[0]), len(lists[0] - lists[1])


def _data(old: Lock, new: Lock, files: tuple[int, int] | None) -> dict[str, Any]:
    every = {split or "all": _moved(difference) for split, difference in comparison.differences(old, new)}
    come = {"come": files[0], "go": files[1]} if files else None
    return {"name": new.name, "files": come, "parts": every}


def _moved(difference: Difference) -> dict[str, Any]:
    numbers = {measure: getattr(difference, measure)._asdict() for measure in ("frames", "files", "bytes")}
    classes = {class_name: moved._asdict() for class_name, moved in difference.classes.items()}
    return {**numbers, "classes": classes, "same_files": difference.same_files}
