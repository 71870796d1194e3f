"""The pages that are generated from components, settings, rules and data."""

import re
from collections import Counter
from functools import cache
from typing import Annotated, Any, Literal

import pytest
from pydantic import Field

from components.base.model import Model
from core.yaml import text as yaml_text
from policies import docs
from policies.rules import RULES
from stacks.loading.settings import Settings
from tests.support.recorded import ROOT
from toolkit.render.reference import (
    components,
    coverage,
    evidence,
    faults,
    markdown,
    printed_objects,
    programs,
    releases,
    settings,
    tables,
)

WRITERS = {
    "components": cache(components.pages),
    "programs": cache(programs.pages),
    "releases": cache(releases.pages),
    "settings": cache(settings.pages),
    "coverage": cache(coverage.pages),
    "printed objects": cache(printed_objects.pages),
    "evidence": cache(evidence.pages),
    "faults": cache(faults.pages),
}
_CODE = re.compile(r"`[^`\n]*`")
_FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
_SECTION = re.compile(r"^## (\w+)$(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_LINKED = re.compile(r"\[(\w+)\]")
_ROW = re.compile(r"^\| `(\w+)` \|", re.MULTILINE)
_CHOSEN = re.compile(r", with `(\w+): ")
_LINK = re.compile(r"\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)")

POLICY_ENTRIES: dict[str, dict[str, Any]] = yaml_text.read(docs.COVERAGE_DATA.read_text())
POLICY_LIST = [f"P-{number}" for number in range(1, 16)]


@pytest.mark.parametrize("name", WRITERS)
def test_pages_are_what_the_code_says(name: str) -> None:
    """Every generated page is what the code says."""
    stale = [file.name for file, text in WRITERS[name]().items() if not file.exists() or file.read_text() != text]
    assert stale == [], "run `make docs`"


def test_an_area_without_a_title_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A component whose token has an area that the index lacks fails with the areas, and where they are."""
    monkeypatch.delitem(components.AREAS, "trainer")
    with pytest.raises(LookupError, match=r"Trainer: .* trainer:Trainer .* nodes, .* AREAS in toolkit/render/"):
        components.subjects.__wrapped__()


@pytest.mark.parametrize(
    "model", [Settings, *(subject.args for subject in components.subjects())], ids=lambda model: model.__name__
)
def test_every_field_says_what_it_is(model: type[Model]) -> None:
    """Every setting and argument has a description."""
    assert tables.undescribed(model) == [], "give each a description"


def test_a_field_without_a_description_is_found() -> None:
    """A field without a description is found, among several models and within one."""

    class One(Model):
        """A thing."""

        plain: int

    class Other(Model):
        """Another thing."""

        kind: Literal["other"]
        described: int = Field(description="said")

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
    """A component that was removed leaves no page."""
    wanted = [file for file in WRITERS["components"]() if file.parent == components.FOLDER]
    assert sorted(components.FOLDER.glob("*.md")) == sorted(wanted), "run `make docs`"


def test_links_lead_somewhere() -> None:
    """Every link of a generated page leads to an existing page and heading."""
    for file in (file for pages in WRITERS.values() for file in pages() if file.suffix == ".md"):
        text = _CODE.sub("", file.read_text())
        headings = {markdown.anchor(line.lstrip("# ")) for line in text.splitlines() if line.startswith("#")}
        for target, fragment in _LINK.findall(text):
            assert (file.parent / target).exists(), f"{file.name}: {target}"
            assert target or fragment in headings, f"{file.name}: #{fragment}"


def test_headings_are_unique() -> None:
    """No two headings of a generated page have one anchor: a link to the second would lead to the first."""
    duplicates = {
        (file.name, anchor)
        for pages in WRITERS.values()
        for file, text in pages().items()
        if file.suffix == ".md"
        for anchor, count in Counter(map(markdown.anchor, _HEADING.findall(_FENCED.sub("", text)))).items()
        if count > 1
    }
    assert duplicates == set(), "rename a model, or give its section another title"


def test_every_setting_has_a_row_in_its_section_or_in_one_that_this_links_to() -> None:
    """Only the field that chooses a form has none: the section of the form begins with it."""
    sections = dict(_SECTION.findall(settings.FILE.read_text()))

    def described(name: str) -> set[str]:
        lead, _, further = sections[name].partition("\nFurther fields: ")
        inherited = (described(base) for base in _LINKED.findall(further))
        return {*_ROW.findall(lead), *_CHOSEN.findall(lead), *(field for base in inherited for field in base)}

    parts = tables.parts(Settings)[1:]
    missing = {
        f"{part.model.__name__}.{name}"
        for part in parts
        for name in part.model.model_fields
        if name not in described(part.model.__name__)
    }
    assert missing == set()


def test_pages_speak_no_python() -> None:
    """Types and defaults on pages are YAML's, not Python's."""
    for file, text in (WRITERS["components"]() | WRITERS["settings"]() | WRITERS["evidence"]()).items():
        found = re.findall(r"\b(?:typing|pydantic|NoneType|PydanticUndefined|Annotated|Literal\[)\S*|\bNone\b", text)
        assert found == [] or file.suffix == ".json", f"{file.relative_to(ROOT)}: {found[0]}"


def test_pages_are_what_the_rules_say() -> None:
    """The pages are those that the rules generate."""
    generated = docs.pages()
    files = {*docs.FOLDER.glob("*.md"), *generated}
    stale = [file.name for file in sorted(files) if not file.exists() or generated.get(file) != file.read_text()]
    assert stale == [], "run `make docs`"


def test_links_of_rules_lead_somewhere() -> None:
    """Links in the pages lead to existing files."""
    for path in docs.FOLDER.glob("*.md"):
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", path.read_text()):
            assert (path.parent / target).exists(), f"{path.name}: {target}"


def test_every_demand_is_accounted_for() -> None:
    """Each suggested policy is held by rules that exist; those of the documents' rows are in test_coverage.py."""
    assert sorted(POLICY_ENTRIES) == sorted(POLICY_LIST)
    known = {rule.name for rule in RULES}
    for name, entry in POLICY_ENTRIES.items():
        assert entry["rules"], name
        assert set(entry["rules"]) <= known, name
