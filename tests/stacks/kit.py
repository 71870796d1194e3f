"""A stack whose tenant has data sets."""

from typing import Any

from tests.support.stack_settings import data

SETS = {"name": "sets", "kind": "claim", "claim": "sets", "storage_class": "nfs", "capacity": "1Ki"}


def stack(*data_sets: dict[str, Any], volume: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return the settings of stack pytorch with data sets on a volume of its first tenant."""
    content = data("pytorch")
    content["tenants"][0] |= {"volumes": [SETS | (volume or {})], "data_sets": [*data_sets]}
    return content | {"stages": []}
