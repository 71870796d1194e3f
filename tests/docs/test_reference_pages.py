"""The pages that are written from components and settings."""

import re
from functools import cache
from typing import Annotated, Literal

import pytest
from pydantic import Field

from components.model import Model
from rendering.reference import components, coverage, evidence, faults, markdown, programs, settings, tables
from stacks.settings import Settings
from tests.support.recorded import ROOT

WRITERS = {
    "components": cache(components.pages),
    "programs": cache(programs.pages),
    "settings": cache(settings.pages),
    "coverage": cache(coverage.pages),
    "evidence": cache(evidence.pages),
    "faults": cache(faults.pages),
}
_CODE = re.compile(r"`[^`\n]*`")
_LINK = re.compile(r"\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)")


@pytest.mark.parametrize("name", WRITERS)
def test_pages_are_what_the_code_says(name: str) -> None:
    """Prevents a page that tells of a field, a default or a component that is no longer there."""
    stale = [file.name for file, text in WRITERS[name]().items() if not file.exists() or file.read_text() != text]
    assert stale == [], "run `make docs`"


@pytest.mark.parametrize(
    "model", [Settings, *(subject.args for subject in components.subjects())], ids=lambda model: model.__name__
)
def test_every_field_says_what_it_is(model: type[Model]) -> None:
    """Prevents a setting or an argument of which a reader learns name and type, and has to guess the rest."""
    assert tables.undescribed(model) == [], "give each a description"


def test_a_field_without_words_is_found() -> None:
    """Prevents a check that every field passes: one of several models says nothing of itself, one of a model does."""

    class One(Model):
        """A thing."""

        plain: int

    class Other(Model):
        """Another thing."""

        kind: Literal["other"]
        told: int = Field(description="said")

    class Third(Model):
        """A third thing."""

        kind: Literal["third"]

    class Whole(Model):
        """Things."""

        one: One
        either: One | Other
        chosen: Annotated[Other | Third, Field(discriminator="kind")] = Field(description="said")

    assert tables.undescribed(Whole) == ["Whole.either", "One.plain"]


def test_no_page_is_left_of_a_component_that_is_gone() -> None:
    """Prevents a page that no longer belongs to anything."""
    wanted = [file for file in WRITERS["components"]() if file.parent == components.FOLDER]
    assert sorted(components.FOLDER.glob("*.md")) == sorted(wanted), "run `make docs`"


def test_links_lead_somewhere() -> None:
    """Prevents a table that sends the reader to a page or to a heading which was renamed."""
    for file in (file for pages in WRITERS.values() for file in pages()):
        text = _CODE.sub("", file.read_text())
        headings = {markdown.anchor(line.lstrip("# ")) for line in text.splitlines() if line.startswith("#")}
        for target, fragment in _LINK.findall(text):
            assert (file.parent / target).exists(), f"{file.name}: {target}"
            assert target or fragment in headings, f"{file.name}: #{fragment}"


def test_pages_speak_no_python() -> None:
    """Prevents a type or a default that only a programmer can read."""
    for file, text in (WRITERS["components"]() | WRITERS["settings"]() | WRITERS["evidence"]()).items():
        found = re.findall(r"\b(?:typing|pydantic|NoneType|PydanticUndefined|Annotated|Literal\[)\S*|\bNone\b", text)
        assert found == [], f"{file.relative_to(ROOT)}: {found[0]}"
