"""`./hpc data drift`: how far a data set and its splits are from all that the catalogue has of its cameras."""

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from core.datasets import catalogue as catalogues
from core.datasets.catalogue import Catalogue
from core.datasets.choice import Choice, card_of
from toolkit.cli.data import chosen, sources
from toolkit.cli.data.chosen import Name, TenantOption
from toolkit.cli.data.stats import StaleOption
from toolkit.cli.shared.console import show_rows
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.options import DEFAULT_STACK, JsonOption, StackOption, print_json
from toolkit.datasets import comparison

ALL = "all"
_SHOWN = 3
_BEYOND = 1

BoundOption = Annotated[
    float | None, typer.Option("--bound", min=0, max=1, help="Exit with status 1 if a distance is greater, 0 to 1.")
]


def command(
    name: Name,
    stack: StackOption = DEFAULT_STACK,
    tenant: TenantOption = None,
    bound: BoundOption = None,
    *,
    allow_stale: StaleOption = False,
    plain: JsonOption = False,
) -> None:
    """Compare a data set with its operating domain.

    Compares the class shares of the set and of each split with those of all frames of its cameras. The distance is the
    total variation of the pixel shares: 0 if they are equal, 1 if no class is in both.
    """
    data_set = chosen.find(name, stack, tenant)
    made = data_set.lock
    whole = domain(
        sources.open_source(data_set.settings.source, data_set.stack, allow_stale=allow_stale), data_set.settings
    )
    parts = {ALL: made.pixels_by_class, **{split: part.pixels_by_class for split, part in made.splits.items()}}
    distances = {part: comparison.total_variation(pixels, whole) for part, pixels in parts.items()}
    if plain:
        print_json(_data(distances, parts, whole))
    else:
        rows = ((part, f"{value:.4f}", _furthest(parts[part], whole)) for part, value in distances.items())
        show_rows(f"Distance of {name} from all frames of its cameras", ("part", "distance", "details"), rows)
    if bound is not None and (beyond := [part for part, value in distances.items() if value > bound]):
        typer.echo(f"{', '.join(beyond)}: beyond the bound {bound:g}; choose other windows or shares", err=True)
        raise typer.Exit(_BEYOND)


def domain(catalogue: Catalogue, choice: Choice) -> Mapping[str, int]:
    """Return the pixels of each class in all frames of the cameras; raise Problem where there are none."""
    card = card_of(choice.card)
    (row,) = catalogue.ask(catalogues.domain(choice, card)) or [()]
    if not any(row):
        raise Problem(f"the catalogue has no frame of {', '.join(choice.cameras)}", "Correct `source` or `cameras`.")
    return dict(zip(card.class_tags, (int(float(value or 0)) for value in row), strict=True))


def _furthest(part: Mapping[str, int], whole: Mapping[str, int]) -> str:
    """Return the classes that differ most, in percent of all pixels."""
    moved = sorted(comparison.share_differences(part, whole).items(), key=lambda item: -abs(item[1]))
    return ", ".join(f"{tag} {100 * by:+.2f} %" for tag, by in moved[:_SHOWN] if by)


def _data(
    distances: Mapping[str, float], parts: Mapping[str, Mapping[str, int]], whole: Mapping[str, int]
) -> dict[str, Any]:
    return {
        part: {"distance": value, "differences": comparison.share_differences(parts[part], whole)}
        for part, value in distances.items()
    }
