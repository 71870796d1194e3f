"""Findings without an engine, which of them are new, and facts of the settings."""

from datetime import date
from pathlib import Path
from typing import Any

import pytest

from core.pulumi_values import REDACTED
from policies import exceptions
from stacks.loading import settings
from tests.support.recorded import ROOT
from tests.support.stack_settings import changed
from toolkit.cli.diff import policy_findings, settings_facts
from toolkit.review.model import Change, Op, Resource, Review


def job(name: str, image: str) -> Resource:
    """Return a job with an image."""
    container = {"name": "c", "image": image}
    inputs: dict[str, Any] = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": "a"},
        "spec": {"template": {"spec": {"containers": [container], "restartPolicy": "Never"}}},
    }
    return Resource(f"urn:pulumi:dev::hpc::kubernetes:batch/v1:Job::{name}", "kubernetes:batch/v1:Job", inputs)


def pinned(found: Review) -> dict[str, bool | None]:
    """Return the findings about images, by job, and whether each is new."""
    return {each.message.split(",")[0]: each.new for each in found.findings if each.policy == "image-pinned"}


def test_what_is_new_among_findings() -> None:
    """A finding is new where the policies did not report it of the stack before."""
    old, new = job("old", "x:latest"), job("new", "x:latest")
    changes = (Change(Op.SAME, old, old), Change(Op.CREATE, None, new))
    review = Review("dev", changes, findings=policy_findings.judged([old, new], {}))
    assert pinned(policy_findings.compared(review, {})) == {"Job a/old": False, "Job a/new": True}


def test_a_secret_that_is_hidden_has_texts() -> None:
    """The mark that stands for a secret's texts is not a finding."""
    inputs = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": "a"}, "stringData": REDACTED}
    hidden = Resource("urn:pulumi:dev::hpc::kubernetes:core/v1:Secret::s", "kubernetes:core/v1:Secret", inputs)
    assert not [each for each in policy_findings.judged([hidden], {}) if REDACTED in each.message]


def test_exceptions_are_judged_by_a_day(monkeypatch: pytest.MonkeyPatch) -> None:
    """An exception applies until its last day, which is that of the compared commit."""
    until = date(2030, 1, 31)
    one = exceptions.RuleException(rule="image-pinned", object="Job a/old", reason="for the test", expires=until)
    monkeypatch.setattr(exceptions, "load", lambda: (one,))
    old = job("old", "x:latest")
    found = {
        day: Review("dev", (), findings=policy_findings.judged([old], {}, day)) for day in (until, date(2030, 2, 1))
    }
    assert [len(pinned(each)) for each in found.values()] == [0, 1]


def test_facts_of_dev() -> None:
    """Facts of nodes are those of the settings: GPUs, RDMA devices and pools."""
    found = settings_facts.of(settings.load("dev", ROOT))
    assert (found.gpus, found.rdma["rdma/shared_ib0"]) == (16, 2)
    assert {node.pool for node in found.nodes} == {"master", "worker"}


def test_facts_of_ones_own_objects(tmp_path: Path) -> None:
    """The manifests of a stack's own objects are named by file and line, as findings name the objects."""
    folder = tmp_path / "own"
    folder.mkdir()
    manifest = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: config, namespace: adas}\n"
    (folder / "a.yaml").write_text(f"---\n{manifest}")
    found = settings_facts.of(settings.parse(changed("dev", objects=["own"]), "test"), tmp_path)
    assert found.manifests == {"ConfigMap adas/config": "own/a.yaml:2"}
