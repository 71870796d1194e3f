"""Manifests of a stack's own, and where its jobs fit, before an update."""

import io
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.apis import kinds
from core.apis.kinds import Kind
from tests.support.commands import finished
from tests.support.messages import has
from tests.support.recorded import OURS
from tests.support.wait_objects import condition
from toolkit.cli.pulumi import command as pulumi
from toolkit.cli.shared import console
from toolkit.cli.shared import stack as stacks
from toolkit.cli.shared.cluster_client import RefusedError
from toolkit.cli.shared.engine import Engine
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.preflight import update_checks
from toolkit.cli.shared.preflight.update_checks import unready_operands
from toolkit.cli.shared.stack import Stack, read
from toolkit.review.sentences import bare

SERVICE = """\
apiVersion: v1
kind: Service
metadata: {name: dash, namespace: adas}
spec:
  FIELD: {app: dash}
  ports: [{port: 80}]
"""


@pytest.fixture
def stack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stack:
    """Give a stack whose folder of objects is in a project of the test's own."""
    monkeypatch.setattr(update_checks, "ROOT", tmp_path)
    (tmp_path / "objects").mkdir()
    read = stacks.read("dev")
    return replace(read, settings=read.settings.model_copy(update={"objects": ("objects",)}))


def test_a_field_that_the_provider_would_drop_is_refused_with_its_line(stack: Stack, tmp_path: Path) -> None:
    """A misspelt field of a Kubernetes kind is refused before the engine starts: no policy of the engine sees it."""
    (tmp_path / "objects" / "dash.yaml").write_text(SERVICE.replace("FIELD", "selctor"))
    with pytest.raises(Problem, match=r"objects/dash\.yaml:5:3: Service adas/dash, spec\.selctor: .*selector"):
        update_checks.require_own_manifests(stack)


def test_known_fields_pass(stack: Stack, tmp_path: Path) -> None:
    """A manifest whose fields the API knows passes, and so does a stack without any."""
    (tmp_path / "objects" / "dash.yaml").write_text(SERVICE.replace("FIELD", "selector"))
    update_checks.require_own_manifests(stack)
    update_checks.require_own_manifests(stacks.read("dev"))


@pytest.fixture
def printed(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """Give what is printed."""
    written = io.StringIO()
    monkeypatch.setattr(console, "console", console.new_console(file=written, width=140))
    return written


def test_every_stage_has_its_table(printed: io.StringIO) -> None:
    """An update prints a table of the GPUs that each stage takes."""
    update_checks.show_placements(read("dev").settings)
    lines = [" ".join(line.split()) for line in printed.getvalue().splitlines()]
    assert [line for line in lines if line.startswith("Placement")] == [
        "Placement, stage rdma",
        "Placement, stage nodes",
        "Placement, stage nccl",
        "Placement, stage training",
    ]
    assert "wave job layout GPUs fits on" in lines
    assert "2 adas/nccl-test-02x08 02x08 16 dgx01: 1, dgx02: 1" in lines
    assert "1 adas/mofed-test-job dgx01: 1, dgx02: 1" in lines


@pytest.mark.parametrize("stack", OURS)
def test_every_job_of_every_stack_is_reported(stack: str, printed: io.StringIO) -> None:
    """Every job of every stack has a row in the table."""
    settings = read(stack).settings
    update_checks.show_placements(settings)
    assert len([line for line in printed.getvalue().splitlines() if line[:1].isdigit()]) == sum(
        len(stage.workloads) for stage in settings.stages
    )


@pytest.mark.usefixtures("sim_home")
def test_a_preview_for_a_program_is_the_engines_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """`./hpc pulumi preview --json` prints the engine's JSON and nothing else."""
    monkeypatch.setattr("toolkit.cli.shared.session.prepare", lambda *_: None)
    monkeypatch.setattr("toolkit.cli.shared.identity.require_unless_unreachable", lambda *_: None)
    monkeypatch.setattr("toolkit.engine.tools.find", lambda _name, **_: tmp_path / "pulumi")
    monkeypatch.setattr(Engine, "run_interactively", lambda *_: 0)
    printed: list[object] = []
    monkeypatch.setattr("toolkit.cli.shared.preflight.update_checks.show_placements", printed.append)
    monkeypatch.setattr("toolkit.cli.shared.session.print_plugins", lambda *_: printed.append("plugins"))
    assert finished(pulumi.command, "preview", "--stack", "dev", "--json")[0] == 0
    assert printed == []
    assert finished(pulumi.command, "preview", "--stack", "dev", "--diff")[0] == 0
    assert len(printed) == 2


def facts(kind: Kind, status: dict[str, Any]) -> list[str]:
    """Return the sentences about an object with a status."""
    found = {"metadata": {"name": "x", "namespace": "ns"}, "status": status}
    return [*map(bare, unready_operands(lambda each: [found] if each == kind else []))]


@pytest.mark.parametrize(
    ("kind", "status", "parts"),
    [
        (
            kinds.CLUSTER_POLICY,
            {
                "state": "notReady",
                "conditions": [
                    condition("Ready", "False", "Error"),
                    condition("Error", "True", "OperandNotReady", "states not ready: [state-driver]"),
                ],
            },
            ("state notReady", "Error is True (OperandNotReady: states not ready: [state-driver])"),
        ),
        (kinds.CLUSTER_POLICY, {}, ("no state",)),
        (
            kinds.NIC_CLUSTER_POLICY,
            {"state": "notReady", "reason": "no nodes", "appliedStates": [{"name": "state-OFED", "state": "notReady"}]},
            ("state notReady", "no nodes", "state-OFED is notReady"),
        ),
        (
            kinds.NODE_FEATURE_DISCOVERY_V1,
            {"conditions": [condition("Available", "False", "Gone", "no workers"), condition("Degraded", "True")]},
            ("Available is False (Gone: no workers)", "Degraded is True"),
        ),
    ],
)
def test_what_is_not_ready_is_a_fact(kind: Kind, status: dict[str, Any], parts: Sequence[str]) -> None:
    """The sentence has kind, name, state and what the operator reports."""
    (said,) = facts(kind, status)
    assert has(said, f"{kind.kind} ns/x", "not ready already", *parts)


def test_what_is_ready_is_none() -> None:
    """An object that is ready is no fact, nor is one whose operator reports nothing in conditions."""
    assert facts(kinds.CLUSTER_POLICY, {"state": "ready"}) == []
    assert (
        facts(kinds.NODE_FEATURE_DISCOVERY_V1, {"conditions": [condition("Available"), condition("Degraded", "False")]})
        == []
    )
    assert facts(kinds.NMSTATE, {}) == []


def test_what_cannot_be_read_is_said() -> None:
    """A kind that the user may not list is not taken for ready."""

    def refuse(kind: Kind) -> list[dict[str, Any]]:
        if kind == kinds.CLUSTER_POLICY:
            raise RefusedError("refused", "", "403, forbidden")
        return []

    (said,) = unready_operands(refuse)
    assert has(bare(said), "ClusterPolicy", "could not be determined", "403, forbidden")
