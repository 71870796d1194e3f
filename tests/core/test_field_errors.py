"""Errors of fields in words of the project: no sentence and no regular expression of pydantic's gets through."""

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError
from pydantic_core._pydantic_core import list_all_errors

from core import field_errors
from core.datasets.card import Card
from core.field_errors import FORMS, Form
from core.hardware.profiles import Profile
from policies.exceptions import RuleException
from stacks.loading.field_names import models_of
from stacks.loading.settings import Settings
from stacks.programs import Program
from stacks.releases import Release
from stacks.settings.layers import PlatformLayer, TenantsFile

FILES = (Settings, PlatformLayer, TenantsFile, Program, Release, Profile, Card, RuleException)
"""Models of the files that users write."""
VALUES: tuple[Any, ...] = (
    *("x", "", "A B;", "2027-13-01", -1, 0, 10**9, 10**30, 1.5, float("nan"), None),
    *([], [1], ["x"] * 400, {}, {"kind": "zz"}, {"a": 1}, {1: 2}),
)


@cache
def models() -> frozenset[type[BaseModel]]:
    """Return the models of these files, with those inside them."""
    found: set[type[BaseModel]] = set()
    waiting: list[type[BaseModel]] = [*FILES]
    while waiting:
        model = waiting.pop()
        if model not in found:
            found.add(model)
            waiting += [inner for field in model.model_fields.values() for inner in models_of(field)]
    return frozenset(found)


@cache
def raised() -> dict[str, Any]:
    """Return an error of every type that wrong values raise, the first by the names of the models."""
    found: dict[str, Any] = {}
    for model in sorted(models(), key=lambda model: f"{model.__module__}.{model.__qualname__}"):
        for content in ("x", {"nope": 1}, *({name: value} for name in model.model_fields for value in VALUES)):
            try:
                model.model_validate(content)
            except ValidationError as errors:
                for error in errors.errors(include_url=False):
                    found.setdefault(error["type"], error)
    return found


def patterns(schema: Any) -> Iterator[str]:
    """Yield the patterns in a core schema."""
    if isinstance(schema, dict):
        if isinstance(schema.get("pattern"), str):
            yield schema["pattern"]
        for inner in schema.values():
            yield from patterns(inner)
    elif isinstance(schema, list | tuple):
        for inner in schema:
            yield from patterns(inner)


def test_every_error_of_the_files_has_words() -> None:
    """The table has each type of error that a wrong file can raise, with problem and remedy."""
    assert len(raised()) > 25
    own = {"string_pattern_mismatch", *field_errors.OWN}
    assert {*raised()} - own - {*field_errors._PROBLEMS} == set()
    for error in raised().values():
        if error["type"] not in field_errors.OWN:
            assert field_errors.problem(error) != error["msg"]
            assert field_errors.remedy(error).startswith("; ")


def test_no_sentence_of_pydantic_gets_through() -> None:
    """Whatever type of error there is, its message is none of pydantic's."""
    for known in list_all_errors():
        if known["type"] not in field_errors.OWN:
            error = {
                "type": known["type"],
                "msg": known["example_message_python"],
                "ctx": known["example_context"] or {},
            }
            text = field_errors.sentence(error, "field")
            assert not re.search(r"Input|should|permitted|required|valid |\^", text), text


def test_every_pattern_has_a_form() -> None:
    """A text of another form than its field's is answered with what the form is called, and an example."""
    raised()  # models are built when they are first used
    found = {pattern for model in models() for pattern in patterns(model.__pydantic_core_schema__)}
    assert len(found) > 60
    assert found - {*FORMS} == set()


@pytest.mark.parametrize(("pattern", "form"), [*FORMS.items()], ids=[form.name for form in FORMS.values()])
def test_an_example_has_its_form(pattern: str, form: Form) -> None:
    """What a message gives as an example is accepted."""
    assert not form.example or re.search(pattern, form.example)
