"""Versions outside a vendor's table that the settings accept."""

from typing import Any

import pytest

from stacks.checks.allowance import accepted, warnings
from stacks.loading.settings import parse
from tests.support.stack_settings import changed, expect_message, expect_refusal

_EARLIER = {"gpu__driver__version": "580.105.08"}
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
    ((entry, table),) = accepted(parsed)
    assert (entry.what, entry.value, entry.reason) == (path, value, "approved by the vendor, case 1234")
    assert table


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


def test_a_version_that_its_vendor_has_ended_is_a_warning() -> None:
    """An operator without support leaves the settings valid, and a warning names the command that shows the way."""
    (warning,) = warnings(parse(changed("prod", gpu__operator__channel="v25.10", **_EARLIER), "test"))
    expect_message(
        warning, "gpu.operator.channel v25.10: its vendor has ended GPU Operator 25.10; `./hpc upgrade check`"
    )


def test_a_step_that_is_not_supported_can_be_accepted() -> None:
    """An entry that names a step of two versions is needed where the settings lead to the second one over a stop."""
    allow = _allow("gpu.operator.channel", "25.10 to 26.7")
    parsed = parse(changed("prod", allow=allow), "test")
    assert [*warnings(parsed)] == []
    ((_, table),) = accepted(parsed)
    expect_message(table, "GPU Operator 25.10 to 26.7 is not supported in one step … go to 26.3 first")
    needless = parse(changed("prod", allow=_allow("gpu.operator.channel", "26.3 to 26.7")), "test")
    assert [*warnings(needless)] == [
        "allow: gpu.operator.channel 26.3 to 26.7 is not outside a vendor's table; remove the entry"
    ]


def _allow(what: str, value: str) -> list[dict[str, Any]]:
    return [{"what": what, "value": value, "reason": "approved by the vendor, case 1234"}]
