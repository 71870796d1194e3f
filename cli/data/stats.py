"""`./hpc data stats`: how much of the pixels each class has."""

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from cli.shared.console import print_text
from cli.shared.errors import Problem
from cli.shared.options import JsonOption
from cli.shared.tables import show_rows
from datasets.catalogue import as_of
from datasets.frames import list_files
from datasets.freshness import changes
from datasets.shares import Share, rare, shares
from datasets.sqlite_reader import SqliteCatalogue

_RARE = 1.0

CatalogueFile = Annotated[Path, typer.Argument(metavar="CATALOGUE", help="File that ./hpc data index wrote.")]
RareOption = Annotated[float, typer.Option("--rare", help="Percent of all pixels below which a class is rare.")]
StaleOption = Annotated[
    bool, typer.Option("--allow-stale", help="Use the catalogue although files have changed since it was written.")
]


def command(
    catalogue: CatalogueFile = Path("catalogue.db"),
    rare_below: RareOption = _RARE,
    *,
    allow_stale: StaleOption = False,
    as_json: JsonOption = False,
) -> None:
    """Show the share of each class in all pixels.

    Also how many frames show it, and which classes are rare. Where the folder that was indexed is on this machine, its
    files must be as they were.
    """
    source = SqliteCatalogue(catalogue)
    if not allow_stale:
        require_current(source, catalogue)
    card = source.card()
    found = shares(source, card)
    few = {each.tag for each in rare(found, rare_below)}
    time = as_of(source)
    if as_json:
        print(_as_json(found, few, card.name, time))  # noqa: T201 - for a program
        return
    show_rows(
        escape(f"{card.title}, as of {time}"),
        ("class", "tag", "share %", "pixels", "frames", "rare"),
        (
            (
                escape(each.name),
                each.tag,
                f"{each.share:.4f}",
                f"{each.pixels:,}",
                f"{each.frames:,}",
                "" if each.tag not in few else "[yellow]rare[/]" if each.frames else "[red]none[/]",
            )
            for each in found
        ),
    )
    print_text(f"{len(few)} of {len(found)} classes have less than {rare_below:g} % of the pixels")


def require_current(source: SqliteCatalogue, name: Path) -> None:
    """Raise Problem where files of the indexed folder, if that is on this machine, differ from the catalogue."""
    folder = source.folder()
    if not folder.is_dir():
        return
    if found := changes(source, source.card(), list_files(folder)):
        raise Problem(
            f"{name} is older than the files of {folder}: {found}",
            f"Run ./hpc data index {folder} -o {name} again, or add --allow-stale.",
        )


def _as_json(found: tuple[Share, ...], few: set[str], card: str, time: str) -> str:
    classes = [{**each.model_dump(), "rare": each.tag in few} for each in found]
    return json.dumps({"card": card, "as_of": time, "classes": classes}, indent=2)
