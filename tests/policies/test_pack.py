"""The policy pack, run by the real engine on a state file: no program, no backend, no provider."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from policies.rules import RULES
from simulator.errors import SimulatorError
from simulator.plugins.locate import plugin_choice
from simulator.tools import find
from tests.policies.conftest import Case, cases

pytestmark = pytest.mark.engine

PACK = Path(__file__).parents[2] / "policies"
DENIED = [case for case in cases() if case.expect and not case.has_unknown and len(case.manifests) == 1]
ALLOWED = [case for case in cases() if not case.expect and not case.has_unknown and len(case.manifests) == 1]


def _analyze(found: list[Case], folder: Path, *more: str) -> tuple[int, list[dict[str, Any]]]:
    """Run `pulumi policy analyze` over the cases' manifests; return its exit status and the violations."""
    try:
        pulumi = find("pulumi")
    except SimulatorError as error:
        pytest.skip(f"needs the engine: {error}")
    stack = {"urn": "urn:pulumi:t::hpc::pulumi:pulumi:Stack::hpc-t", "type": "pulumi:pulumi:Stack", "custom": False}
    deployment = {"manifest": {"time": "2026-01-01T00:00:00Z", "magic": "", "version": ""}}
    state = folder / "state.json"
    state.write_text(
        json.dumps({"version": 3, "deployment": {**deployment, "resources": [stack, *map(_resource, found)]}})
    )
    environment = {
        **os.environ,
        "PATH": plugin_choice({**os.environ, "PATH": f"{pulumi.parent}{os.pathsep}{os.environ['PATH']}"}).path,
        "PULUMI_HOME": str(folder / "home"),
        "PULUMI_SKIP_UPDATE_CHECK": "true",
    }
    command: list[str | Path] = [pulumi, "policy", "analyze", "--file", state, "--policy-pack", PACK, "--json", *more]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    events = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert any("summaryEvent" in event for event in events), done.stderr
    return done.returncode, [event["policyEvent"] for event in events if "policyEvent" in event]


def _resource(case: Case) -> dict[str, Any]:
    version = case.manifests[0]["apiVersion"]
    token = f"kubernetes:{version if '/' in version else f'core/{version}'}:{case.manifests[0]['kind']}"
    name = str(case).replace("/", "-")
    return {
        "urn": f"urn:pulumi:t::hpc::{token}::{name}",
        "type": token,
        "custom": True,
        "id": name,
        "inputs": case.manifests[0],
        "outputs": case.manifests[0],
    }


def test_violations_end_the_update(tmp_path: Path) -> None:
    """A pack that the engine does not start, or whose mandatory rules it takes for advice."""
    status, violations = _analyze(DENIED, tmp_path)
    assert status != 0
    assert {violation["enforcementLevel"] for violation in violations} == {"mandatory"}
    assert {violation["policyPackName"] for violation in violations} == {"hpc"}
    for case in DENIED:
        mine = [
            violation["message"]
            for violation in violations
            if violation["policyName"] == case.rule and violation["resourceUrn"].endswith(str(case).replace("/", "-"))
        ]
        assert len(mine) == len(case.expect), case
        for message, expected in zip(mine, case.expect, strict=True):
            assert expected in message


def test_good_manifests_pass(tmp_path: Path) -> None:
    """A rule that stops what it should let through, once numbers have come through the engine."""
    own = [case for case in ALLOWED if case.rule == RULES[1].name]
    status, violations = _analyze(own, tmp_path)
    assert (status, violations) == (0, [])


def test_configuration_of_a_stack_reaches_the_rules(tmp_path: Path) -> None:
    """A stack of small machines that is measured against the largest machine known."""
    own = [case for case in ALLOWED if case.name == "allowed/mpijob-full-machine"]
    settings = tmp_path / "configuration.json"
    settings.write_text(json.dumps({"gpu-limit": {"maximum": 4}}))
    status, violations = _analyze(own, tmp_path, "--policy-pack-config", str(settings))
    assert status != 0
    assert [violation["policyName"] for violation in violations] == ["gpu-limit"]
