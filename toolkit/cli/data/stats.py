"""`./hpc data stats`: how much of the pixels each class has."""

from pathlib import Path
from typing import Annotated

import typer
from pydantic import ValidationError

from core.datasets.card import Card
from core.datasets.catalogue import Catalogue, as_of
from core.datasets.choice import DiscoverSource
from toolkit.cli.data import chosen, sources
from toolkit.cli.shared.console import print_text, show_rows, styled
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.options import JsonOption, print_json
from toolkit.datasets.shares import Share, rare, shares
from toolkit.datasets.sqlite_catalogue import SqliteCatalogue

_RARE = 1.0

CatalogueFile = Annotated[
    Path, typer.Argument(metavar="CATALOGUE", help="File that ./hpc data index wrote, or Parquet file or folder.")
]
CardOption = Annotated[
    str | None, typer.Option("--card", help="Card of the classes; default: the one in the catalogue's file.")
]
DiscoverOption = Annotated[str | None, typer.Option(help="Host of Spectrum Discover, to query instead of a file.")]
CaOption = Annotated[Path | None, typer.Option(help="Certificate of its CA; default: one that this machine trusts.")]
RareOption = Annotated[float, typer.Option("--rare", help="Percent of all pixels below which a class is rare.")]
StaleOption = Annotated[
    bool, typer.Option("--allow-stale", help="Use the catalogue although files have changed since it was written.")
]


def command(
    catalogue: CatalogueFile = Path("catalogue.db"),
    rare_below: RareOption = _RARE,
    *,
    card_name: CardOption = None,
    discover: DiscoverOption = None,
    ca: CaOption = None,
    allow_stale: StaleOption = False,
    as_json: JsonOption = False,
) -> None:
    """Show the share of each class in all pixels.

    Also how many frames show it, and which classes are rare. If the indexed folder is on this machine, its files must
    be unchanged. The account of Spectrum Discover is in HPC_DISCOVER_USER and HPC_DISCOVER_PASSWORD.
    """
    source = _opened(catalogue, discover, ca, allow_stale=allow_stale)
    card = _card(source, card_name)
    class_shares = shares(source, card)
    few = {share.tag for share in rare(class_shares, rare_below)}
    time = as_of(source)
    if as_json:
        print_json(_data(class_shares, few, card.name, time))
        return
    show_rows(
        f"{card.title}, as of {time}",
        ("class", "tag", "share %", "pixels", "frames", "rare"),
        (
            (
                share.name,
                share.tag,
                f"{share.share:.4f}",
                f"{share.pixels:,}",
                f"{share.frames:,}",
                "" if share.tag not in few else styled("rare", "yellow") if share.frames else styled("none", "red"),
            )
            for share in class_shares
        ),
    )
    print_text(f"{len(few)} of {len(class_shares)} classes have less than {rare_below:g} % of the pixels")


def _opened(file: Path, host: str | None, ca: Path | None, *, allow_stale: bool) -> Catalogue:
    if host is None:
        is_parquet = file.is_dir() or file.suffix == sources.PARQUET
        return sources.open_parquet(file) if is_parquet else sources.open_sqlite(file, allow_stale=allow_stale)
    try:
        source = DiscoverSource(kind="discover", host=host, ca=None if ca is None else str(ca.absolute()))
    except ValidationError:
        raise Problem(f"{host!r} is not a host", "Write its name, with a port where it is not 443.") from None
    return sources.open_source(source)


def _card(source: Catalogue, name: str | None) -> Card:
    if name is not None:
        return chosen.find_card(name)
    if isinstance(source, SqliteCatalogue):
        return source.card()
    raise Problem("only a catalogue that ./hpc data index wrote has its card in it", "Name the card with --card.")


def _data(class_shares: tuple[Share, ...], few: set[str], card: str, time: str) -> dict[str, object]:
    classes = [{**share.model_dump(), "rare": share.tag in few} for share in class_shares]
    return {"card": card, "as_of": time, "classes": classes}
