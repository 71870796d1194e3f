"""Settings that were renamed or removed."""

import re

import pytest

from stacks.loading import former_names
from stacks.loading.settings import Settings
from tests.support.recorded import ROOT
from tests.support.stack_settings import data as settings_of
from tests.support.stack_settings import expect_refusal
from toolkit.render.reference import tables

_ROW = re.compile(r"^  \| `([^`]+)` \|", re.MULTILINE)


@pytest.mark.parametrize(
    ("place", "name", "remedy"),
    [
        (("nodes", -1), "profile", "it is called machine now"),
        (("pools", "training"), "profile", "it is called machine now"),
    ],
)
def test_a_former_name_is_answered_with_the_new_one(place: tuple[str | int, ...], name: str, remedy: str) -> None:
    """The name that is closest by its letters would be another field."""
    data = settings_of("mixed")
    part = data
    for step in place:
        part = part[step]
    part[name] = 1
    expect_refusal(data, f"{name}: …; {remedy}")


def test_former_names_are_no_settings_and_in_the_changelog() -> None:
    """Each former name has a row of the changelog's table, and no field has it."""
    assert set(_ROW.findall((ROOT / "CHANGELOG.md").read_text())) >= former_names.names().keys()
    settings = {
        f"{path}.{name}"
        for part in tables.parts(Settings)
        for path in part.paths or [""]
        for name in part.model.model_fields
    }
    assert not {place for place in former_names.names() if place in settings or f".{place}" in settings}
