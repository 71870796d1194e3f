"""Versions of operators that settings name, and what vendors list for the release."""

from typing import Any

import pytest

from stacks.checks.allowance import warnings
from stacks.loading.settings import load, parse
from tests.support.recorded import OURS, ROOT
from tests.support.stack_settings import changed, expect_message, expect_refusal


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        (
            {"release": "4.22", "gpu__operator__channel": "v25.10"},
            "gpu.operator.channel v25.10: GPU Operator 25.10 … OpenShift 4.22 … use 26.3 or 26.7, … 4.18, 4.19 or 4.20",
        ),
        (
            {"fabric__plugin__operator__channel": "v25.4"},
            "fabric.plugin.operator.channel v25.4: Network Operator 25.4 … OpenShift 4.20 … use 25.7, … release 4.18",
        ),
        (
            {"gpu__operator__starting_csv": "gpu-operator-certified.v25.3.4"},
            "gpu.operator.starting_csv … GPU Operator 25.3 … OpenShift 4.20 … use 25.10, … release 4.18 or 4.19",
        ),
        (
            {"node_feature_discovery__starting_csv": "nfd.4.18.0-202601010000"},
            "node_feature_discovery.starting_csv nfd.4.18.0-… Node Feature Discovery 4.18 … use 4.20, or release 4.18",
        ),
    ],
)
def test_a_version_for_other_releases_is_refused(settings: dict[str, Any], expected: str) -> None:
    """A version that its vendor lists for other releases only is refused by path, with those that fit."""
    expect_refusal(changed("prod", **settings), expected)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        (
            {"gpu__operator__channel": "v27.1"},
            "gpu.operator.channel v27.1: … OpenShift 4.20 … 25.10, 26.3 or 26.7",
        ),
        ({"queues__operator__channel": "stable-v9.9"}, "queues.operator.channel stable-v9.9: … 9.9 … 1.3 or 1.4"),
    ],
)
def test_a_version_that_no_one_lists_is_a_warning(settings: dict[str, Any], expected: str) -> None:
    """A version that is listed for no release is accepted, and named in a warning with those that are listed."""
    (warning,) = warnings(parse(changed("prod", **settings), "test"))
    expect_message(warning, expected)


@pytest.mark.parametrize("channel", ["stable", "v26.3", "v26.7.1", "26.7"])
def test_listed_versions_and_heads_of_channels_are_silent(channel: str) -> None:
    """A channel without a version, and a listed version in any form, is neither refused nor warned of."""
    assert list(warnings(parse(changed("prod", gpu__operator__channel=channel), "test"))) == []


@pytest.mark.parametrize("stack", OURS)
def test_the_projects_stacks_have_listed_versions(stack: str) -> None:
    """No stack of the project has a version that vendors do not list for its release."""
    assert list(warnings(load(stack, ROOT))) == []
