"""Scores of frames, which a model gives: those that it is least sure of teach it the most."""

import csv
import math
from collections.abc import Iterable

from core.errors import DataSetError


def read(lines: Iterable[str], source: str) -> dict[str, float]:
    """Return the scores by the path of the image, from lines `<path>,<score>`; a first line with titles is left out.

    Raises DataSetError, naming `source` and the line, for what is not a finite number, and for an image given twice.
    """
    scores: dict[str, float] = {}
    for number, row in enumerate(csv.reader(lines), 1):
        path, score = row if len(row) == 2 else ("", "")  # noqa: PLR2004 - path and score
        try:
            value = float(score)
        except ValueError:
            if number == 1 and path:
                continue
            value = math.nan
        if not path or not math.isfinite(value):
            raise DataSetError(f"{source}:{number}: {','.join(row)[:80]!r} is not `<path>,<score>`; correct it")
        if path in scores:
            raise DataSetError(f"{source}:{number}: {path!r} is given twice; leave one out")
        scores[path] = value
    return scores
