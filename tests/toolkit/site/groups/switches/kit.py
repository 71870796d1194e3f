"""Switches of example stacks, and stacks with other settings of them."""

from typing import Any

from stacks.loading.settings import parse
from stacks.settings.site.switches import Switch
from stacks.site import assembly as site
from stacks.site.site import Site
from tests.support.stack_settings import data

STACKS = ("redpaper-4.4", "nvaie-roce", "h100-roce", "robotic-drive-ethernet")
"""Examples with switches: one of each dialect."""


def facts(stack: str, **changes: Any) -> Site:
    """Return the site of an example; `changes` are fields of its first switch."""
    content = data(stack, cabled=True)
    switches = content["site"]["switches"]
    content["site"] |= {"switches": [switches[0] | changes, *switches[1:]]}
    return site.of(parse(content, "test"), stack)


def first(found: Site) -> Switch:
    """Return its first switch."""
    return found.settings.switches[0]
