"""Answers of Spectrum Discover's SQL interface as rows, CSV with and without quotes, and JSON; and scores of frames."""

import csv
import io
import json
import math
import re
from collections.abc import Iterable
from typing import Any

from core.datasets.catalogue import CatalogueError
from core.errors import DataSetError

_WHOLE = re.compile(r"(-?\d+)\.0+")


def from_csv(text: str) -> list[tuple[str, ...]]:
    """Return the rows of comma-separated values: no header, a running number from 0 first, blanks after commas.

    Texts may be in quotes or not. Raises CatalogueError where a record is broken, cut off, or lost.
    """
    try:
        records = [record for record in csv.reader(io.StringIO(text), skipinitialspace=True, strict=True) if record]
    except csv.Error as error:
        raise CatalogueError(f"the answer is not CSV ({error}); ask again, or ask for JSON") from None
    for position, record in enumerate(records):
        if record[0].strip() != str(position) or len(record) != len(records[0]):
            raise CatalogueError(
                f"record {position} of the answer is broken: {','.join(record)[:80]!r} has {len(record)} values, the "
                f"first has {len(records[0])}; if a name has a comma or a newline and no quotes, ask for JSON"
            )
    return [tuple(record[1:]) for record in records]


def from_json(text: str) -> list[tuple[str, ...]]:
    """Return the rows of a JSON array of objects, whose columns are in the order of the query.

    Numbers stay as they are written. Raises CatalogueError where it is something else, or objects differ in their
    columns.
    """
    try:
        records: Any = json.loads(text, parse_int=str, parse_float=lambda number: _WHOLE.sub(r"\1", number))
    except ValueError as error:
        raise CatalogueError(f"the answer is not JSON ({error}); ask again") from None
    if not isinstance(records, list) or not all(isinstance(record, dict) for record in records):
        raise CatalogueError(f"the answer is not a list of records: {text[:80]!r}; correct the query")
    columns = [*records[0]] if records else []
    if broken := [record for record in records if [*record] != columns]:
        raise CatalogueError(f"records differ in their columns: {[*broken[0]]}, and {columns}; ask again")
    return [tuple("" if value is None else str(value) for value in record.values()) for record in records]


def read_scores(lines: Iterable[str], source: str) -> dict[str, float]:
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
