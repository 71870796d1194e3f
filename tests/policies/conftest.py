"""Fixtures of policies: manifests on disk, what a rule must say about them, and the ways in which it meets them.

A fixture is a YAML file below `policies/fixtures/<rule>/allowed` or `denied`:

    expect: [part of a message, ...]   # in order; empty for allowed ones; doubts count too
    object: {...}                      # one manifest, or several that are examined together:
    objects: [{...}, ...]
    container: "name"                  # optional: the container that every finding names
    parameters: {...}                  # optional: of the rule
    complete: false                    # optional: the objects are not all there is (default: true)

`<unknown>` in a manifest stands for the value that the engine sends when it does not know one.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from pulumi_policy.proxy import UNKNOWN_STRING_VALUE

from policies.check import Checker
from policies.configuration import Configuration
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj, opened
from policies.pack.resources import Properties
from policies.rule import AnyRule, Finding
from policies.rules import RULES
from tests.support.manifests import UNKNOWN_MARK, contents


@dataclass(frozen=True, eq=False)
class Case:
    """Manifests, and what the rule of their folder must find in them; each file is one, so its identity counts."""

    rule: str
    name: str
    manifests: list[dict[str, Any]]
    expect: tuple[str, ...]
    container: str | None = None
    parameters: dict[str, Any] = field(default_factory=dict)
    complete: bool = True

    def __str__(self) -> str:
        """Return the id of the parametrised test."""
        return f"{self.rule}/{self.name}"

    @property
    def has_unknown(self) -> bool:
        """Whether a value in it is not known."""
        return UNKNOWN_STRING_VALUE in str(self.manifests)


@cache
def cases() -> tuple[Case, ...]:
    """Return every fixture."""
    return tuple(_cases())


def _cases() -> Iterator[Case]:
    for path, content in contents():
        wanted = dict(content)
        expect = tuple(wanted.pop("expect"))
        assert bool(expect) == (path.parent.name == "denied"), f"{path} stands in the wrong folder"
        manifests = unknowns(wanted.pop("objects", None) or [wanted.pop("object")])
        yield Case(path.parents[1].name, f"{path.parent.name}/{path.stem}", manifests, expect, **wanted)


def cases_of(rule: AnyRule) -> list[Case]:
    """Return the fixtures of one rule. A test takes them all: one of its own would cost each two milliseconds."""
    return [case for case in cases() if case.rule == rule.name]


def rule_named(name: str) -> AnyRule:
    """Return one rule."""
    return next(rule for rule in RULES if rule.name == name)


def findings(case: Case) -> list[Finding]:
    """Return what the rule of a case finds in its manifests."""
    rule = rule_named(case.rule)
    read = [Properties(manifest) for manifest in case.manifests]
    found = [inner for each in read for _, inner in opened(Obj(each.tree, unknown=tuple(each.unknown)))]
    configuration = Configuration({rule.name: case.parameters})
    return list(Checker([rule], configuration).check(found, Inventory(found, complete=case.complete)))


def unknowns(value: Any) -> Any:
    """Replace the mark by the engine's own sentinel."""
    if isinstance(value, dict):
        return {key: unknowns(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [unknowns(entry) for entry in value]
    return UNKNOWN_STRING_VALUE if value == UNKNOWN_MARK else value
