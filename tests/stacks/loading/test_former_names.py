"""Settings that were renamed or removed."""

import re
from typing import Any

import pytest

from stacks.loading import former_names
from stacks.loading.settings import Settings
from tests.support.recorded import ROOT
from tests.support.stack_settings import data as settings_of
from tests.support.stack_settings import expect_refusal
from toolkit.render.reference import tables

_ROW = re.compile(r"^  \| `([^`]+)` \|", re.MULTILINE)


@pytest.mark.parametrize(
    ("place", "remedy"),
    [
        (("nodes", -1, "profile"), "it is called machine now"),
        (("pools", "training", "profile"), "it is called machine now"),
        (("tenants", 0, "data"), "it was removed: write volumes: [{name: data, ...}]"),
        (("queues", "operator", "install_timeout"), "it was removed: raise timeouts.operator"),
    ],
)
def test_a_former_name_is_answered_with_the_new_one(place: tuple[str | int, ...], remedy: str) -> None:
    """The field that is closest by its letters would be another one."""
    data: Any = settings_of("mixed")
    part = data
    for step in place[:-1]:
        part = part[step]
    part[place[-1]] = 1
    expect_refusal(data, f"{place[-1]}: …; {remedy}")


def test_former_names_are_no_settings_and_in_the_changelog() -> None:
    """Each former name has a row of the changelog's table, and no setting is called so."""
    assert set(_ROW.findall((ROOT / "CHANGELOG.md").read_text())) >= former_names.names().keys()
    settings = {
        f"{path}.{name}".lstrip(".")
        for part in tables.parts(Settings)
        for path in part.paths or [""]
        for name in part.model.model_fields
    }
    last = {f"**.{place.rpartition('.')[2]}" for place in settings}
    assert former_names.names().keys() & (settings | last) == set()
