"""Hazards on the terminal and as data."""

from collections.abc import Iterable, Sequence

from toolkit.cli.shared.console import print_parts, print_text, styled
from toolkit.cli.shared.hazards import examination
from toolkit.cli.shared.hazards.hazard import Hazard


def show(hazards: Sequence[Hazard]) -> None:
    """Print each hazard with its remedy below it, and what could not be checked in a line."""
    for hazard in hazards:
        if hazard.undetermined:
            print_text(examination.unchecked([hazard]))
            continue
        print_parts(styled("hazard", "yellow"), f" {hazard.name}: {hazard.place}: {hazard.cause}")
        if hazard.remedy:
            print_text(f"  {hazard.remedy}")
    if hazards:
        print_text("")


def data(hazards: Iterable[Hazard]) -> list[dict[str, str]]:
    """Return them for JSON, with what could not be checked."""
    return [
        {"name": hazard.name, "place": hazard.place, "cause": hazard.cause, "remedy": hazard.remedy}
        for hazard in hazards
    ]
