"""The policy pack, run by the real engine on state files: no program, no backend, no provider."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from policies.rules import RULES
from tests.policies.batches import Batch, batches, said
from tests.policies.conftest import Case, cases, rule_named
from tests.policies.servicer import token_of
from toolkit.engine.errors import SimulatorError
from toolkit.engine.plugins.locate import plugin_choice
from toolkit.engine.tools import find

pytestmark = pytest.mark.engine

PACK = Path(__file__).parents[2] / "policies"
CASES = tuple(case for case in cases() if not case.has_unknown)


@dataclass(frozen=True)
class Verdict:
    """The engine's exit status and output, and the violations as events."""

    status: int
    text: str
    violations: list[dict[str, Any]]

    def of(self, case: Case) -> list[dict[str, Any]]:
        """Return what the rule of a fixture found in it."""
        urns = {urn for urn, _ in _urns(case)}
        return [each for each in self.violations if each["policyName"] == case.rule and each["resourceUrn"] in urns]


def _analyze(found: list[Case], folder: Path, configuration: dict[str, Any] | None = None) -> Verdict:
    """Run `pulumi policy analyze` over the fixtures' manifests."""
    try:
        pulumi = find("pulumi")
    except SimulatorError as error:
        pytest.skip(f"needs the engine: {error}")
    folder.mkdir(exist_ok=True)
    settings, state = folder / "configuration.json", folder / "state.json"
    settings.write_text(json.dumps(configuration or {}))
    stack = {"urn": "urn:pulumi:t::hpc::pulumi:pulumi:Stack::hpc-t", "type": "pulumi:pulumi:Stack", "custom": False}
    manifest = {"time": "2026-01-01T00:00:00Z", "magic": "", "version": ""}
    resources = [stack, *(resource for case in found for resource in _resources(case))]
    state.write_text(json.dumps({"version": 3, "deployment": {"manifest": manifest, "resources": resources}}))
    environment = {
        **os.environ,
        "PATH": plugin_choice({**os.environ, "PATH": f"{pulumi.parent}{os.pathsep}{os.environ['PATH']}"}).path,
        "PULUMI_HOME": str(folder / "home"),
        "PULUMI_SKIP_UPDATE_CHECK": "true",
    }
    command: list[str | Path] = [pulumi, "policy", "analyze", "--file", state, "--policy-pack", PACK]
    done = subprocess.run(
        [*command, "--policy-pack-config", settings, "--json"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    events = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    violations = [event["policyEvent"] for event in events if "policyEvent" in event]
    return Verdict(done.returncode, done.stdout + done.stderr, violations)


def _resources(case: Case) -> Iterator[dict[str, Any]]:
    for (urn, token), manifest in zip(_urns(case), case.manifests, strict=True):
        yield {
            "urn": urn,
            "type": token,
            "custom": True,
            "id": urn.rpartition("::")[2],
            "inputs": manifest,
            "outputs": manifest,
        }


def _urns(case: Case) -> list[tuple[str, str]]:
    name = str(case).replace("/", "-")
    tokens = [token_of(manifest) for manifest in case.manifests]
    return [(f"urn:pulumi:t::hpc::{token}::{name}-{number}", token) for number, token in enumerate(tokens)]


@pytest.fixture(scope="module")
def examined(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Verdict]:
    """Run the engine over few stacks that contain all fixtures, instead of once for each."""
    folder = tmp_path_factory.mktemp("states")
    known = batches(CASES)
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        verdicts = pool.map(_examine, known, (folder / str(number) for number in range(len(known))))
        return {str(case): verdict for batch, verdict in zip(known, verdicts, strict=True) for case in batch.cases}


def _examine(batch: Batch, folder: Path) -> Verdict:
    verdict = _analyze(batch.cases, folder, batch.configuration)
    refused = any(said(case) and rule_named(case.rule).severity == "mandatory" for case in batch.cases)
    assert not refused or verdict.status != 0, verdict.text
    return verdict


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_engine_says_what_the_checker_says(case: Case, examined: dict[str, Verdict]) -> None:
    """The engine reports of each fixture what the checker finds in it."""
    found = examined[str(case)].of(case)
    assert sorted(f"{case.rule}: {violation['message']}" for violation in found) == said(case)
    assert {violation["enforcementLevel"] for violation in found} <= {rule_named(case.rule).severity}


def test_every_rule_refuses_something() -> None:
    """Each rule ends an update of at least one stack."""
    assert {case.rule for case in CASES if said(case)} == {rule.name for rule in RULES}


def test_configuration_of_a_stack_reaches_the_rules(tmp_path: Path) -> None:
    """Parameters of the configuration reach the rules through the engine."""
    own = [case for case in CASES if case.name == "allowed/mpijob-full-machine"]
    verdict = _analyze(own, tmp_path, {"all": "disabled", "gpu-limit": {"enforcementLevel": "mandatory", "maximum": 4}})
    assert verdict.status != 0
    assert [violation["policyName"] for violation in verdict.violations] == ["gpu-limit"]


@pytest.mark.parametrize(
    ("configuration", "words"),
    [
        ({"gpu-limit": {"maximum": "many"}}, ["gpu-limit", "maximum"]),
        ({"gpu-limit": {"maximum": 0}}, ["gpu-limit", "maximum"]),
        ({"gpu-limit": {"most": 4}}, ["gpu-limit", "most"]),
        ({"gpu-limits": "advisory"}, ["no such rule", "gpu-limits"]),
    ],
)
def test_a_wrong_configuration_is_named(configuration: dict[str, Any], words: list[str], tmp_path: Path) -> None:
    """A configuration with an unknown rule, level or parameter is refused."""
    verdict = _analyze([case for case in CASES if case.rule == "gpu-limit"][:1], tmp_path, configuration)
    assert verdict.status != 0
    assert all(word in verdict.text for word in words), verdict.text


def test_wrong_exceptions_are_one_line(tmp_path: Path) -> None:
    """A wrong file of exceptions ends the pack with a message that names the entry."""
    copy = tmp_path / "policies"
    shutil.copytree(PACK, copy, ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "core").symlink_to(PACK.parent / "core")
    (copy / "exceptions.yaml").write_text("- {rule: gpu-limit, object: Pod a/x, reason: long enough, expires: soon}\n")
    done = subprocess.run([sys.executable, copy], cwd=copy, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    (line,) = done.stderr.splitlines()
    assert "exceptions.yaml:1: exception 1: expires: " in line
