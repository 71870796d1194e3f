"""Names that settings had before, for users who still write them."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from core import data_files

FILE = Path(__file__).with_suffix(".yaml")
_STEP = re.compile(r"\[\]|[^.\[\]]+")


def remedy(place: Sequence[str | int]) -> str | None:
    """Return what to write in place of a setting that is no more; None where the settings never had it."""
    for former, text in names().items():
        if _leads_to(former, place):
            return text
    return None


def names() -> Mapping[str, str]:
    """Return what to do about each former setting, by its place in the settings; `**` stands for any place."""
    tables = data_files.read(FILE)
    renamed = {place: f"it is called {name} now" for place, name in tables["renamed"].items()}
    return renamed | {place: f"it was removed: {text}" for place, text in tables["removed"].items()}


def _leads_to(former: str, place: Sequence[str | int]) -> bool:
    steps = _STEP.findall(former)
    if steps[0] == "**":
        return bool(place) and place[-1] == steps[-1]
    return len(steps) == len(place) and all(
        step == "[]" if isinstance(part, int) else step in ("*", part) for step, part in zip(steps, place, strict=True)
    )
