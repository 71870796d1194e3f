"""The recorded environments: what the program registers for dev and prod."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

from core.pulumi_values import REDACTED
from stacks.environment import build, placeholder_accounts
from stacks.loading import settings
from stacks.settings.operators import OperatorSettings
from toolkit.render import manifests
from toolkit.render.recorder import Registration, record

ROOT = Path(__file__).parents[2]
OURS = ("dev", "prod", *sorted(path.stem for path in settings.examples(ROOT).glob("*.yaml")))
"""The stacks of this repository; a checkout may have a user's beside them, about which no test is."""
A_DAY = date(2026, 11, 21)
"""On which our own exceptions hold; that they end is the matter of the doors, not of this test."""


@cache
def environment(stack: str) -> tuple[Registration, ...]:
    """Return the registrations of a stack; a run takes half a second, so each stack is run once."""
    return manifests.registrations(stack, ROOT)


@cache
def every_operator() -> tuple[Registration, ...]:
    """Return the registrations of a stack of today with every operator of `operators`, as it is recommended."""
    content = settings.whole("redpaper-today", ROOT).data
    content["operators"] = {name: {} for name in OperatorSettings.model_fields}
    return built(content)


def built(content: Mapping[str, Any], stack: str = "test") -> tuple[Registration, ...]:
    """Return the registrations of settings that are given as data; the same data is recorded once."""
    return _built(json.dumps(content), stack)


@cache
def _built(content: str, stack: str) -> tuple[Registration, ...]:
    parsed = settings.parse(json.loads(content), "test", stack)
    return component(lambda: build(parsed, placeholder_accounts(parsed, REDACTED), ROOT), stack)


def component(declare: Callable[[], object], stack: str = "test") -> tuple[Registration, ...]:
    """Return the registrations of whatever `declare` declares."""
    return record(declare, stack=stack, project=settings.PROJECT)


def of_kind(recorded: Iterable[Registration], kind: str) -> list[Registration]:
    """Return all objects of a kind."""
    return [item for item in recorded if item.is_kubernetes and item.type.endswith(f":{kind}")]


def before(item: Registration, all_of: Mapping[str, Registration]) -> Iterator[Registration]:
    """Yield everything that an object depends on, by way of others too; `all_of` has the registrations by URN."""
    seen: set[str] = set()
    waiting = list(item.dependencies)
    while waiting:
        urn = waiting.pop()
        if urn not in seen and urn in all_of:
            seen.add(urn)
            yield all_of[urn]
            waiting += all_of[urn].dependencies


def only_object(recorded: Iterable[Registration], kind: str, name: str | None = None) -> Registration:
    """Return the only object of a kind (and, if given, of a name)."""
    matches = [item for item in of_kind(recorded, kind) if name in (None, item.inputs["metadata"]["name"])]
    assert len(matches) == 1, f"{kind} {name}: {[item.urn for item in matches]}"
    return matches[0]


def spec(recorded: Iterable[Registration], kind: str, name: str | None = None) -> Any:
    """Return the `spec` of the only object of a kind."""
    return only_object(recorded, kind, name).inputs["spec"]
