"""The recorded environments: what the program registers for dev and prod."""

from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any

from rendering import manifests
from rendering.recorder import Registration, record
from stacks import settings

ROOT = Path(__file__).parents[2]
SHARED = ROOT.parent / "shared"
"""Schemas and defaults of other projects, beside the checkout; never part of it."""


@cache
def environment(stack: str) -> tuple[Registration, ...]:
    """Return the registrations of a stack; a run takes half a second, so each stack is run once."""
    return manifests.registrations(stack, ROOT)


def component(build: Callable[[], object]) -> tuple[Registration, ...]:
    """Return the registrations of whatever `build` declares."""
    return record(build, stack="test", project=settings.PROJECT)


def of_kind(recorded: Iterable[Registration], kind: str) -> list[Registration]:
    """Return all objects of a kind."""
    return [item for item in recorded if item.is_kubernetes and item.type.endswith(f":{kind}")]


def one(recorded: Iterable[Registration], kind: str, name: str | None = None) -> Registration:
    """Return the only object of a kind (and, if given, of a name)."""
    found = [item for item in of_kind(recorded, kind) if name in (None, item.inputs["metadata"]["name"])]
    assert len(found) == 1, f"{kind} {name}: {[item.urn for item in found]}"
    return found[0]


def spec(recorded: Iterable[Registration], kind: str, name: str | None = None) -> Any:
    """Return the `spec` of the only object of a kind."""
    return one(recorded, kind, name).inputs["spec"]
