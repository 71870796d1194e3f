"""Every rule over every fixture, in the shape of a manifest; `test_pack_servicer.py` has the other one."""

from typing import Any

import pytest

from apis.kinds import KINDS, Kind
from policies.check import Checker
from policies.configuration import Configuration
from policies.findings import Finding, Severity
from policies.objects import objects
from policies.rule import AnyRule
from policies.rules import RULES
from policies.values import read
from policies.world import World
from tests.policies.conftest import Case, cases, cases_of, findings, rule_named

EACH_RULE = pytest.mark.parametrize("rule", RULES, ids=lambda rule: str(rule.name))


def _hold(case: Case, found: list[Finding]) -> None:
    messages = [finding.message for finding in found]
    assert len(messages) == len(case.expect), f"{case}: {messages}"
    for message, expected in zip(messages, case.expect, strict=True):
        assert expected in message, case
    if case.container is not None:
        assert {finding.container for finding in found} == {case.container}, case


def _check(*manifests: Any) -> list[Finding]:
    found = [each for manifest in manifests for each in objects(manifest)]
    wanted = [rule_named(name) for name in ("gpu-limit", "rdma-exactly-one", "rdma-ipc-lock")]
    return list(Checker(wanted).check(found, World(found)))


@EACH_RULE
def test_fixtures(rule: AnyRule) -> None:
    """A rule that is wrong about a plain manifest."""
    for case in cases_of(rule):
        _hold(case, findings(case))


@EACH_RULE
def test_findings_say_where(rule: AnyRule) -> None:
    """A finding whose line nobody can find, since its path leads nowhere in the object."""
    for case in cases_of(rule):
        for finding in findings(case):
            assert finding.path, case
            assert any(
                read(manifest, finding.path[0]) is not None or len(finding.path) == 1 for manifest in case.manifests
            ), finding


@EACH_RULE
def test_each_rule_has_both_fixtures(rule: AnyRule) -> None:
    """A rule that was never seen to refuse anything, or never seen to let anything through."""
    assert {bool(case.expect) for case in cases_of(rule)} == {True, False}


def test_fixtures_name_rules() -> None:
    """A fixture folder whose rule was renamed and that no longer tests anything."""
    assert {case.rule for case in cases()} == {rule.name for rule in RULES}


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind.pod_templates], ids=lambda kind: str(kind.api_version))
def test_every_kind_with_pods_is_walked(kind: Kind) -> None:
    """A kind whose pod template is data of `apis.kinds` but which the walk passes by."""
    container = {"name": "c", "resources": {"limits": {"rdma/shared_ib0": 2}}}
    for path in kind.pod_templates:
        manifest: dict[str, object] = {"spec": {"containers": [container]}}
        for key in reversed(path):
            manifest = {key: manifest}
        manifest |= {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {"name": "x"}}
        assert {finding.rule for finding in _check(manifest)} == {"rdma-ipc-lock", "rdma-exactly-one"}


def test_another_version_of_a_kind_is_walked() -> None:
    """A release that moves a kind to another version and so silences every rule."""
    container = {"name": "c", "resources": {"limits": {"nvidia.com/gpu": 99}}}
    template = {"spec": {"containers": [container]}}
    manifest = {
        "apiVersion": "batch/v1beta1",
        "kind": "CronJob",
        "spec": {"jobTemplate": {"spec": {"template": template}}},
    }
    assert [finding.rule for finding in _check(manifest)] == ["gpu-limit"]


def test_a_list_is_opened() -> None:
    """A `List` that carries its items past the rules."""
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "spec": {"containers": [{"name": "c", "resources": {"limits": {"rdma/a": 3}}}]},
    }
    inner = {"apiVersion": "v1", "kind": "PodList", "items": [pod]}
    assert len(_check({"apiVersion": "v1", "kind": "List", "items": [inner]})) == 2


def test_limits_of_a_stack() -> None:
    """A pack configured for smaller machines that still measures against the largest known one."""
    job = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "x"},
        "spec": {"containers": [{"name": "c", "resources": {"limits": {"nvidia.com/gpu": 8}}}]},
    }
    rule = rule_named("gpu-limit")
    found = list(objects(job))
    configuration = {"gpu-limit": {"maximum": 4}}
    assert list(Checker([rule]).check(found, World(found))) == []
    assert len(list(Checker([rule], Configuration(configuration)).check(found, World(found)))) == 1


def test_one_unknown_hides_nothing_else() -> None:
    """A container whose capabilities are not known, and the fault of its neighbour passes with it."""
    case = next(case for case in cases() if str(case) == "rdma-ipc-lock/denied/unknown-and-wrong-neighbour")
    assert [finding.doubt is None for finding in findings(case)] == [False, True]


def test_level_of_doubts() -> None:
    """A stack that wants to be sure before the update, and gets advice only."""
    case = next(case for case in cases() if str(case) == "rdma-ipc-lock/denied/unknown-capabilities")
    assert {finding.severity for finding in findings(case)} == {Severity.ADVISORY}


def test_finding_reads_well() -> None:
    """A finding without the object, the container or the remedy, from which nobody knows what to do."""
    case = next(case for case in cases() if case.name == "denied/mpijob-two")
    (finding,) = findings(case)
    assert str(finding) == (
        "rdma-exactly-one: MPIJob adas/nccl-test, container nccl, "
        "spec.mpiReplicaSpecs.Worker.template.spec.containers[0].resources.limits[rdma/shared_ib1]: "
        'asks for rdma/shared_ib1: 2. Write "1" for each rdma/<name>; for more bandwidth ask for several different ones'
    )
