"""The source documents' own listings, read from the reference beside the checkout, with their printed faults put back.

The reference holds them repaired where a parser could not have read them; section E of the inventory says what stood in
the print. The functions here move a field back to where it was printed.
"""

import re
from functools import cache
from typing import Any

import pytest

from apis import yaml_text
from policies.values import Path
from tests.support.recorded import SHARED

FILE = SHARED / "reference" / "listings.md"

POD: Path = ("spec",)
TEMPLATE: Path = ("spec", "template", "spec")
WORKER: Path = ("spec", "mpiReplicaSpecs", "Worker", "template", "spec")
LAUNCHER: Path = ("spec", "mpiReplicaSpecs", "Launcher", "template", "spec")
FIRST: Path = ("containers", 0)


@cache
def _text() -> str:
    if not FILE.exists():
        pytest.skip(f"needs the reference with the listings, {FILE.name}, beside the checkout")
    return FILE.read_text()


def listing(identity: str) -> Any:
    """Return the first YAML block below the heading that names `identity`, e.g. R-3.4.3-2."""
    heading = re.search(rf"^## (?:.*[ ,])?{re.escape(identity)}(?![\w-]).*$", _text(), re.MULTILINE)
    assert heading, identity
    block = re.compile(r"^```yaml\n(.*?)^```", re.MULTILINE | re.DOTALL).search(_text(), heading.end())
    assert block, identity
    return yaml_text.read(block[1])


def at(tree: Any, path: Path) -> Any:
    """Return the part of `tree` at `path`."""
    for key in path:
        tree = tree[key]
    return tree


def moved(tree: Any, source: Path, target: Path) -> Any:
    """Return `tree` with the field at `source` standing at `target`, as in the print."""
    value = at(tree, source[:-1]).pop(source[-1])
    return put(tree, target, value)


def put(tree: Any, target: Path, value: Any) -> Any:
    """Return `tree` with `value` at `target`."""
    place = tree
    for key in target[:-1]:
        place = place.setdefault(key, {}) if isinstance(place, dict) else place[key]
    place[target[-1]] = value
    return tree
