"""Models as tables."""

from enum import StrEnum
from typing import Annotated, Literal

import pytest
from pydantic import Field

from components.base.model import DnsLabel, Model, Seconds
from core.model import left_out
from toolkit.render.reference import markdown, tables, type_text


class Colour(StrEnum):
    """A choice."""

    RED = "red"
    BLUE = "blue"


class Round(Model):
    """Something round. And more."""

    shape: Literal["round"]
    radius_gib: int = Field(default=1, gt=0, le=2000, description="how large it is")


class Square(Model):
    """Something square."""

    shape: Literal["square"] = "square"
    inner: Round | None = Field(default=None, description="None: it is empty")


class Everything(Model):
    """All that a field can be."""

    name: DnsLabel
    version: Literal["2.0", "3"] = Field(default="2.0", description="in the Redpaper: 2.0")
    colour: Colour | None = None
    wait: Seconds = 60
    labels: dict[str, DnsLabel] = Field(default_factory=dict)
    shapes: tuple[Annotated[Round | Square, Field(discriminator="shape")], ...] = Field(min_length=1)
    only: Round = Field(default=Round(shape="round"))
    other: Colour | None = Field(default=None, json_schema_extra=left_out("that of `colour`"))
    words: tuple[str, ...] = Field(default=("a", "0200"), description="texts|of <two>")


def rows(model: type[Model]) -> dict[str, list[str]]:
    """Return the cells of a model's table by field."""
    lines = tables.fields(model, lambda inner: inner.__name__).splitlines()[2:]
    cells = [[cell.strip() for cell in line.replace("\\|", "/").strip("|").split("|")] for line in lines]
    return {first.strip("`"): others for first, *others in cells}


def test_types_and_defaults_are_in_plain_words() -> None:
    """Types and defaults are plain text, and values are YAML."""
    assert rows(Everything) == {
        "name": ["DNS label", "required", ""],
        "version": ["`'2.0'` or `'3'`", "`'2.0'`", "in the Redpaper: 2.0"],
        "colour": ["`red`, `blue` or `null`", "`null`", ""],
        "wait": ["seconds, 1 to 604,800", "`60`", ""],
        "labels": ["map of text to DNS label", "`{}`", ""],
        "shapes": ["list of Round (`shape: round`) or Square (`shape: square`), not empty", "required", ""],
        "only": ["Round", "`{shape: round}`", "Something round"],
        "other": ["`red`, `blue` or `null`", "that of `colour`", ""],
        "words": ["list of text", "`[a, '0200']`", "texts/of \\<two>"],
    }
    assert rows(Round)["radius_gib"] == ["whole number, GiB, 1 to 2,000", "`1`", "how large it is"]
    assert rows(Square)["inner"] == ["Round or `null`", "`null`", "`null`: it is empty"]


def test_models_inside_have_one_table_each_under_all_their_paths() -> None:
    """Each inner model has one table, with all its paths and its variant's value."""
    found = {part.model: part for part in tables.parts(Everything)}
    assert list(found) == [Everything, Round, Square]
    assert found[Round].paths == ["shapes[]", "shapes[].inner", "only"]
    assert (found[Round].variants, found[Square].variants) == (["shape: round"], ["shape: square"])
    page = tables.document(Everything, level=3)
    assert page.count("### Round\n") == 1
    assert "At `shapes[]`, with `shape: square`. Something square." in page
    assert "| DNS label | RFC 1123 label" in page


class Solid(Model):
    """Something solid."""

    weight: int = Field(description="how heavy it is")
    colour: Colour = Field(description="of its surface")


class Cube(Solid):
    """A cube."""

    form: Literal["cube"]
    side: int = Field(description="how long it is")


class Ball(Solid):
    """A ball."""

    form: Literal["ball"]
    colour: Colour = Field(default=Colour.RED, description="of the whole ball")


class Solids(Model):
    """All solids."""

    solids: tuple[Annotated[Cube | Ball, Field(discriminator="form")], ...] = ()
    other: Solid | None = Field(default=None, description="another one")


def test_fields_of_a_shared_base_have_one_row_and_variants_a_link() -> None:
    """A base's fields are described once, but for those that a variant declares again; the lead has what chooses it."""
    page = tables.document(Solids, level=2)
    assert page.count("| `weight` |") == 1
    assert page.count("| `colour` |") == 2
    assert page.count("Further fields: [Solid](#solid).") == 2
    assert "At `solids[]`, with `form: cube`. A cube." in page
    assert "| `form` |" not in page


def test_a_base_that_is_no_setting_itself_has_a_section_before_its_first_model() -> None:
    """Such a section names the models that have its fields."""

    class Box(Model):
        """Two solids."""

        cube: Cube
        ball: Ball

    page = tables.document(Box, level=2)
    assert page.index("## Solid\n\nFields of [Cube](#cube), [Ball](#ball). Something solid.") < page.index("## Cube")


def test_a_type_without_words_is_an_error() -> None:
    """A type without plain text is an error."""
    with pytest.raises(LookupError, match="no plain text"):
        type_text.plain(complex, {}, lambda inner: inner.__name__)


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("R-3.4.2-3, E-12a; kubernetes.io/docs/concepts", ["E-12a", "R-3.4.2-3"]),
        ("as in platform-facts 1.12 and S-6.2", ["S-6.2", "platform-facts 1.12"]),
        ("R-3.4.3-3 to -7", ["R-3.4.3-3 to -7"]),
        ("iommu=pt, RFC-1123 (of the host)", []),
    ],
)
def test_ids_of_a_source_are_listed_once_and_in_order(text: str, ids: list[str]) -> None:
    """Ids are read from a field of sources, beside the pages that it names."""
    assert markdown.sources(text) == ids
