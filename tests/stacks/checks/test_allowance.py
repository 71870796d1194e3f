"""Versions outside a vendor's table that the settings accept."""

from typing import Any

import pytest

from stacks.checks.allowance import accepted, warnings
from stacks.loading.settings import parse
from tests.support.stack_settings import changed, expect_message, expect_refusal

_DRIVER = {"gpu__driver__version": "535.129.03"}
_UNLISTED = [
    ("prod", _DRIVER, "gpu.driver.version"),
    ("prod", {"fabric__plugin__operator__channel": "v25.4"}, "fabric.plugin.operator.channel"),
    ("prod", {"gpu__operator__channel": "v27.1"}, "gpu.operator.channel"),
]
"""A driver, an operator for other releases, and one of which no table has anything."""


@pytest.mark.parametrize(("stack", "settings", "path"), _UNLISTED)
def test_an_allowed_version_is_accepted_in_silence(stack: str, settings: dict[str, str], path: str) -> None:
    """A version outside a table that `allow` names is neither refused nor warned of, and known with its reason."""
    (value,) = settings.values()
    parsed = parse(changed(stack, **settings, allow=_allow(path, value)), "test")
    assert [*warnings(parsed)] == []
    ((entry, unlisted),) = accepted(parsed)
    assert entry.reason == "approved by the vendor, case 1234"
    assert unlisted
    assert (unlisted.place, unlisted.value) == (path, value)


def test_another_value_is_refused() -> None:
    """An entry for another value accepts nothing; the refusal says how to write the entry."""
    content = changed("prod", **_DRIVER, allow=_allow("gpu.driver.version", "535.129.04"))
    expect_refusal(
        content,
        "gpu.driver.version 535.129.03: GPU Operator … does not list it … use … or accept it: "
        '`allow: [{what: gpu.driver.version, value: "535.129.03", reason: ...}]`',
    )


def test_an_entry_that_nothing_needs_is_a_warning() -> None:
    """An entry for what no table refuses leaves the settings valid, and a warning says to remove it."""
    parsed = parse(changed("prod", allow=_allow("gpu.driver.version", "535.129.03")), "test")
    (warning,) = warnings(parsed)
    expect_message(warning, "allow: gpu.driver.version 535.129.03 is not outside a vendor's table; remove the entry")


def test_a_reason_is_required() -> None:
    """An entry without a reason is refused with its place."""
    content = changed("prod", **_DRIVER, allow=[{"what": "gpu.driver.version", "value": "535.129.03"}])
    expect_refusal(content, "allow[0].reason: … missing")


def _allow(what: str, value: str) -> list[dict[str, Any]]:
    return [{"what": what, "value": value, "reason": "approved by the vendor, case 1234"}]
