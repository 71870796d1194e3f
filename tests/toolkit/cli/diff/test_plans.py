"""Plans and what they depend on."""

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from toolkit.cli.diff import plans
from toolkit.cli.diff.plans import Ground
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.stack import Stack

NOW = Ground("dev", "1", "2", "3")


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    """Store a plan of the engine's."""
    made = tmp_path / "made.json"
    made.write_text('{"resourcePlans": {}}')
    kept = tmp_path / "plan.json"
    plans.store(made, NOW, kept)
    return kept


def test_a_plan_is_kept_for_its_owner(plan: Path) -> None:
    """Only its owner may read a plan, which has what it depends on beside what the engine wrote."""
    assert plan.stat().st_mode & 0o777 == 0o600
    assert json.loads(plan.read_text())["resourcePlans"] == {}
    assert plans.read(plan) == NOW
    plans.require(plan, NOW, "--stack dev")


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"settings": "x"}, "the settings of the stack have changed"),
        ({"state": "x"}, "another update has changed the state"),
        ({"cluster": "x"}, "the cluster has changed"),
        ({"stack": "prod"}, "a plan of stack dev, not of prod"),
    ],
)
def test_a_plan_that_does_not_fit_is_refused(plan: Path, changed: dict[str, str], said: str) -> None:
    """A plan is refused, with the reason, when settings, state or cluster have changed or the stack is another."""
    with pytest.raises(Problem, match=said):
        plans.require(plan, replace(NOW, **changed), "--stack dev --name a")


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"hpc": 1}', '{"hpc": {"stack": "dev"}}', "[" * 100_000])
def test_a_file_that_is_no_plan(tmp_path: Path, content: str) -> None:
    """A file that is not a plan, or a plan of the engine alone, is refused."""
    file = tmp_path / "plan.json"
    file.write_text(content)
    with pytest.raises(Problem, match="is not a plan"):
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
    """An update that departs from its plan ends with what to do, beside the engine's message."""
    assert plans.broken(text) is broken


def test_the_digest_is_of_all_files(tmp_path: Path) -> None:
    """The digest of settings changes with each file that they are in, with locks of data sets, and with manifests."""
    platform, tenants, lock = tmp_path / "platform.yaml", tmp_path / "tenants.yaml", tmp_path / "bikes.lock.json"
    own = tmp_path / "own.yaml"
    absent = tmp_path / "absent.lock.json"
    wanted = cast(
        "Stack", SimpleNamespace(all_files=(tenants, platform), lock_files=(lock, absent), object_files=(own,))
    )
    digests: set[str] = set()
    for file in (tenants, platform, lock, own, tenants):
        for each in (platform, tenants, lock, own):
            each.touch()
        file.write_text(file.read_text() + f"a{len(digests)}: 1\n")
        digests.add(plans.settings_digest(wanted))
    assert len(digests) == 5


def test_a_plan_of_another_stack_is_refused_first(plan: Path) -> None:
    """A plan of another stack is refused before that stack's secrets are read."""
    plans.require_stack(plan, "dev")
    with pytest.raises(Problem, match="is a plan of stack dev, not of lab"):
        plans.require_stack(plan, "lab")
