"""The table of REST calls of Storage Scale in `scale_rest.yaml`, and whether something has a shape of it."""

from collections.abc import Mapping
from functools import cache
from typing import Any
from urllib.parse import unquote

import yaml

from tests.support.recorded import ROOT

TABLE = ROOT / "tests" / "support" / "scale_rest.yaml"
_LEAVES = {"text": str, "number": int, "flag": bool, "any": object}


@cache
def table() -> dict[str, Any]:
    """Return the table."""
    content: dict[str, Any] = yaml.safe_load(TABLE.read_text())
    return content


def calls() -> list[dict[str, Any]]:
    """Return the calls in their order."""
    listed: list[dict[str, Any]] = table()["calls"]
    return listed


def faults(value: Any, shape: Any, place: str = "") -> list[str]:
    """Return how a value differs from a shape: keys that are missing, and values of another type."""
    if isinstance(shape, str):
        wrong = not isinstance(value, _LEAVES[shape]) or (shape == "number" and isinstance(value, bool))
        return [f"{place}: {value!r} is no {shape}"] if wrong else []
    if isinstance(shape, list):
        if not isinstance(value, list):
            return [f"{place}: {value!r} is not a list"]
        return [fault for number, item in enumerate(value) for fault in faults(item, shape[0], f"{place}[{number}]")]
    if not isinstance(value, Mapping):
        return [f"{place}: {value!r} is not an object"]
    problems = []
    for key, inner in shape.items():
        name = key.removesuffix("~")
        if name in value:
            problems += faults(value[name], inner, f"{place}.{name}")
        elif name == key:
            problems.append(f"{place}.{name} is missing")
    return problems


def template(path: str) -> str:
    """Return a path of the table with braces in place of the names that its examples have."""
    names = ("fs1", "pvc-a", "lake", "gone", "home-map", "a2d2", "2000000000001", "sets", "sets%2Fa2d2")
    return "/".join("{}" if part in names else part for part in path.split("/"))


def path(path_info: str) -> str:
    """Return a request's path as the table has paths."""
    return unquote(path_info).removeprefix("/scalemgmt/v2/")
