"""Fixtures of policies: manifests on disk and the ways in which a rule meets them."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from pulumi_policy.proxy import UNKNOWN_STRING_VALUE

FIXTURES = Path(__file__).parent / "fixtures"
UNKNOWN_MARK = "<unknown>"


@dataclass(frozen=True)
class Case:
    """One manifest: what the rule of its folder must say about it; `container` is checked when it is given."""

    rule: str
    name: str
    manifest: dict[str, Any]
    expect: tuple[str, ...]
    container: str | None

    def __str__(self) -> str:
        """Return the id of the parametrised test."""
        return f"{self.rule}/{self.name}"


def cases() -> Iterator[Case]:
    """Yield every fixture; `<unknown>` stands for the value that the engine sends when it does not know one."""
    for path in sorted(FIXTURES.glob("*/*/*.yaml")):
        content = yaml.safe_load(path.read_text())
        expect = tuple(content["expect"])
        assert bool(expect) == (path.parent.name == "denied"), f"{path} stands in the wrong folder"
        name = f"{path.parent.name}/{path.stem}"
        yield Case(path.parents[1].name, name, unknowns(content["object"]), expect, content.get("container"))


def unknowns(value: Any) -> Any:
    """Replace the mark by the engine's own sentinel."""
    if isinstance(value, dict):
        return {key: unknowns(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [unknowns(entry) for entry in value]
    return UNKNOWN_STRING_VALUE if value == UNKNOWN_MARK else value
