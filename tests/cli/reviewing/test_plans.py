"""Plans and what they stand on."""

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from cli.errors import Problem
from cli.reviewing import plans
from cli.reviewing.plans import Ground
from cli.stack import Stack

NOW = Ground("dev", "1", "2", "3")


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    """Keep a plan of the engine's."""
    made = tmp_path / "made.json"
    made.write_text('{"resourcePlans": {}}')
    kept = tmp_path / "plan.json"
    plans.keep(made, NOW, kept)
    return kept


def test_a_plan_is_kept_for_its_owner(plan: Path) -> None:
    """Prevents a plan, which shows all that a stack declares, from being read by everybody on the machine."""
    assert plan.stat().st_mode & 0o777 == 0o600
    assert json.loads(plan.read_text())["resourcePlans"] == {}
    assert plans.read(plan) == NOW
    plans.require(plan, NOW, "--stack dev")


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"settings": "x"}, "the settings of the stack have changed"),
        ({"state": "x"}, "another update has changed the state"),
        ({"cluster": "x"}, "what the cluster holds is not what it was"),
        ({"stack": "prod"}, "a plan of stack dev, not of prod"),
    ],
)
def test_a_plan_that_does_not_fit_is_refused(plan: Path, changed: dict[str, str], said: str) -> None:
    """Prevents an update on another ground than the reviewed one."""
    with pytest.raises(Problem, match=said):
        plans.require(plan, replace(NOW, **changed), "--stack dev --name a")


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"hpc": 1}', '{"hpc": {"stack": "dev"}}', "[" * 100_000])
def test_a_file_that_is_no_plan(tmp_path: Path, content: str) -> None:
    """Prevents a plan that the engine made alone, and that stands on nothing, from being taken for one of ours."""
    file = tmp_path / "plan.json"
    file.write_text(content)
    with pytest.raises(Problem, match="is no plan"):
        plans.read(file)
    with pytest.raises(Problem, match="cannot read"):
        plans.read(tmp_path / "none")


@pytest.mark.parametrize(
    ("text", "broken"),
    [
        ("resource urn:x violates plan: properties changed: ~~a[{5}!={6}]", True),
        ("delete is not allowed by the plan: no steps were expected for this resource", True),
        ("violates the policy", False),
    ],
)
def test_what_the_engine_says_of_its_plan(text: str, broken: bool) -> None:
    """Prevents a user who is told the engine's words of plans and not what to do."""
    assert plans.broken(text) is broken


def test_the_settings_of_tenants_are_two_files(tmp_path: Path) -> None:
    """Prevents tenants' update by a plan whose nodes, or policies, are others since their platform's file changed."""
    platform, tenants = tmp_path / "platform.yaml", tmp_path / "tenants.yaml"
    wanted = cast("Stack", SimpleNamespace(file=tenants, platform_file=platform))
    digests: set[str] = set()
    for file in (tenants, platform, tenants):
        for each in (platform, tenants):
            each.touch()
        file.write_text(file.read_text() + f"a{len(digests)}: 1\n")
        digests.add(plans.settings_digest(wanted))
    assert len(digests) == 3


def test_a_plan_of_another_stack_is_refused_first(plan: Path) -> None:
    """Prevents `incorrect passphrase` as the answer to a plan that is another stack's."""
    plans.require_stack(plan, "dev")
    with pytest.raises(Problem, match="is a plan of stack dev, not of lab"):
        plans.require_stack(plan, "lab")
