"""Drivers and the versions of the GPU Operator."""

from typing import Any

import pytest

from stacks.gpu_drivers import gpu_drivers
from stacks.loading.settings import parse
from stacks.releases import RELEASES
from tests.support.stack_settings import changed, expect_refusal, message

A100, V100 = "prod", "redpaper-today"


@pytest.mark.parametrize(
    ("stack", "driver", "channel", "expected"),
    [
        (
            A100,
            "535.129.03",
            "v26.7",
            "GPU Operator 26.7 … use … 595.91.07, … 535.309.01, or another of branch 580 or 595",
        ),
        (A100, "570.211.01", "v26.7", "use 610.57.04, … or GPU Operator 25.10 or 26.3 in gpu.operator"),
        (
            A100,
            "595.91.07",
            "v25.10",
            "GPU Operator 25.10 … use 590.48.01, … or GPU Operator 26.3 or 26.7 in gpu.operator",
        ),
        (V100, "535.129.03", "v26.7", "use 580.173.02 or 535.309.01, or another of branch 580"),
    ],
)
def test_a_driver_that_the_operator_does_not_list_is_refused(
    stack: str, driver: str, channel: str, expected: str
) -> None:
    """A driver that the operator's version does not list, of no active branch, is refused with those that fit."""
    expect_refusal(_settings(stack, driver, channel), f"gpu.driver.version {driver}: … {expected}")


def test_a_driver_of_several_pools_is_refused_once() -> None:
    """Pools that have the driver of the stack have one message together."""
    refused = message(changed("mixed", gpu__driver={"version": "570.211.01"}))
    assert refused.count("gpu.driver.version 570.211.01") == 1


@pytest.mark.parametrize(
    ("driver", "channel"),
    [("535.309.01", "v26.7"), ("580.95.05", "v26.7"), ("535.129.03", "stable"), ("535.129.03", "v27.1")],
)
def test_a_driver_that_may_fit_is_accepted(driver: str, channel: str) -> None:
    """A listed driver, one of an active branch, and any driver of an operator whose version has no list is accepted."""
    assert parse(_settings(A100, driver, channel), "test")


def test_each_version_of_the_operator_that_releases_have_has_a_list() -> None:
    """Every version of the GPU Operator that a release names has its drivers."""
    named = {
        version
        for release in RELEASES.values()
        for operator in release.operators
        if operator.package == "gpu-operator-certified"
        for version in operator.versions
    }
    assert named <= gpu_drivers().operators.keys()


def _settings(stack: str, driver: str, channel: str) -> dict[str, Any]:
    return changed(stack, gpu__driver__version=driver, gpu__operator__channel=channel)
