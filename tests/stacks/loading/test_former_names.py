"""Settings that were renamed or removed."""

import re
from typing import Any

import pytest

from stacks.loading import field_names
from stacks.loading.settings import Settings
from tests.support.recorded import ROOT
from tests.support.stack_settings import changed, expect_refusal
from tests.support.stack_settings import data as settings_of
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


@pytest.mark.parametrize(
    ("stack", "place", "value", "expected"),
    [
        (
            "dev",
            "site__hosts__selinux",
            {"mode": "enforcing", "modules": []},
            "site.hosts.selinux: …; mode: it is called site.hosts.selinux now; "
            "modules: it is called site.hosts.selinux_modules now",
        ),
        ("dev", "site__haproxy", {"workers": ["w"]}, "site.haproxy: …; workers: it was removed: write the list itself"),
        (
            "two-layers",
            "storage__host_aliases",
            [{"hostname": "gui", "ip": "192.0.2.1"}],
            "storage.host_aliases: …; hostname and ip: it was removed: write a map of names to addresses",
        ),
        (
            "dev",
            "gpu__exporter",
            {"image": "quay.io/example/dcgm-exporter:1", "alerts": {"temperature": 80}},
            "gpu.exporter.alerts: …; it was removed: write temperature and low_use beside image",
        ),
    ],
)
def test_former_fields_of_a_setting_of_another_type_are_answered(
    stack: str, place: str, value: Any, expected: str
) -> None:
    """A setting that kept its name and lost its fields names what took their place."""
    expect_refusal(changed(stack, **{place: value}), expected)


def test_former_names_are_no_settings_and_in_the_changelog() -> None:
    """Each former name has a row of the changelog's table, and no setting is called so."""
    assert set(_ROW.findall((ROOT / "CHANGELOG.md").read_text())) >= field_names.former_names().keys()
    settings = {
        f"{path}.{name}".lstrip(".")
        for part in tables.parts(Settings)
        for path in part.paths or [""]
        for name in part.model.model_fields
    }
    last = {f"**.{place.rpartition('.')[2]}" for place in settings}
    assert field_names.former_names().keys() & (settings | last) == set()
