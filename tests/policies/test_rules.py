"""Every rule over every fixture, in the three shapes in which a rule can meet a manifest."""

from pathlib import Path

import pytest
from pulumi_policy.proxy import unknown_checking_proxy

from apis.kinds import KINDS
from policies.check import check
from policies.findings import Finding
from policies.pack import configuration
from policies.rule import Limits, Rule
from policies.rules import RULES
from tests.policies.conftest import Case, cases
from tests.policies.servicer import analyze

CASES = tuple(cases())
ROOT = Path(__file__).parents[2]


def _rule(name: str) -> Rule:
    return next(rule for rule in RULES if rule.name == name)


def _hold(case: Case, found: tuple[Finding, ...]) -> None:
    messages = [finding.message for finding in found]
    assert len(messages) == len(case.expect), messages
    for message, expected in zip(messages, case.expect, strict=True):
        assert expected in message
    if case.container is not None:
        assert [finding.container for finding in found] == [case.container]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_raw(case: Case) -> None:
    """A rule that is wrong about a plain manifest."""
    _hold(case, _rule(case.rule).check(case.manifest))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_through_the_proxy(case: Case) -> None:
    """A rule that works on dicts only, or that lets an unknown value raise and so turns mandatory into advisory."""
    _hold(case, _rule(case.rule).check(unknown_checking_proxy(case.manifest)))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_through_the_servicer(case: Case) -> None:
    """A pack that passes in tests and not with the engine: numbers are floats there, and a level can be advisory."""
    kind, version = case.manifest["kind"], case.manifest["apiVersion"]
    token = f"kubernetes:{version if '/' in version else f'core/{version}'}:{kind}"
    found = [entry for entry in analyze(token, case.manifest) if entry.policyName == case.rule]
    assert len(found) == len(case.expect), [entry.message for entry in found]
    for entry, expected in zip(found, case.expect, strict=True):
        assert expected in entry.message
        assert _rule(case.rule).remedy in entry.message
        assert entry.enforcementLevel == 1, "mandatory"


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: str(rule.name))
def test_each_rule_has_both_fixtures(rule: Rule) -> None:
    """A rule that was never seen to refuse anything, or never seen to let anything through."""
    mine = [case for case in CASES if case.rule == rule.name]
    assert any(case.expect for case in mine)
    assert any(not case.expect for case in mine)


def test_fixtures_name_rules() -> None:
    """A fixture folder whose rule was renamed and that no longer tests anything."""
    assert {case.rule for case in CASES} == {rule.name for rule in RULES}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: str(rule.name))
def test_page(rule: Rule) -> None:
    """A finding that points to a page which is missing or says something else."""
    page = (ROOT / rule.page).read_text()
    for part in (rule.name, rule.what, rule.remedy, *rule.source.split(", ")):
        assert part in page


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind.pod_templates], ids=lambda kind: str(kind.api_version))
def test_every_kind_with_pods_is_walked(kind: object) -> None:
    """A kind whose pod template is data of `apis.kinds` but which the walk passes by."""
    container = {"name": "c", "resources": {"limits": {"rdma/shared_ib0": 2}}}
    for path in kind.pod_templates:  # type: ignore[attr-defined]
        manifest: dict[str, object] = {"spec": {"containers": [container]}}
        for key in reversed(path):
            manifest = {key: manifest}
        manifest |= {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {"name": "x"}}  # type: ignore[attr-defined]
        assert {finding.rule for finding in check([manifest])} == {"rdma-ipc-lock", "rdma-exactly-one"}


def test_another_version_of_a_kind_is_walked() -> None:
    """A release that moves a kind to another version and so silences every rule."""
    container = {"name": "c", "resources": {"limits": {"nvidia.com/gpu": 9}}}
    template = {"spec": {"containers": [container]}}
    manifest = {
        "apiVersion": "batch/v1beta1",
        "kind": "CronJob",
        "spec": {"jobTemplate": {"spec": {"template": template}}},
    }
    assert [finding.rule for finding in check([manifest])] == ["gpu-limit"]


def test_a_list_is_opened() -> None:
    """A `List` that carries its items past the rules."""
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "spec": {"containers": [{"name": "c", "resources": {"limits": {"rdma/a": 3}}}]},
    }
    assert len(check([{"apiVersion": "v1", "kind": "List", "items": [pod]}])) == 2


def test_limits_of_a_stack() -> None:
    """A pack configured for smaller machines that still measures against the largest known one."""
    job = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "x"},
        "spec": {"containers": [{"name": "c", "resources": {"limits": {"nvidia.com/gpu": 8}}}]},
    }
    limits = Limits(gpus=4)
    assert check([job]) == ()
    assert [finding.rule for finding in check([job], limits)] == ["gpu-limit"]
    assert analyze("kubernetes:core/v1:Pod", job) == []
    assert [entry.policyName for entry in analyze("kubernetes:core/v1:Pod", job, configuration(limits))] == [
        "gpu-limit"
    ]


def test_kind_comes_from_the_token() -> None:
    """A resource whose inputs leave out kind and version and that no rule recognises for that reason."""
    inputs = {"spec": {"containers": [{"name": "c", "resources": {"limits": {"rdma/a": 2}}}]}}
    found = analyze("kubernetes:core/v1:Pod", inputs)
    assert {entry.policyName for entry in found} == {"rdma-ipc-lock", "rdma-exactly-one"}


def test_other_resources_pass() -> None:
    """Components and providers, which are no objects of a cluster, must not trip a rule."""
    assert analyze("hpc:rdma:SharedDevicePlugin", {"spec": {"containers": [{"name": "c"}]}}) == []


def test_finding_reads_well() -> None:
    """A finding without the object, the container or the remedy, from which nobody knows what to do."""
    case = next(case for case in CASES if case.name == "denied/mpijob-two")
    (finding,) = _rule("rdma-exactly-one").check(case.manifest)
    assert str(finding) == (
        "rdma-exactly-one: MPIJob adas/nccl-test, "
        "container nccl (spec.mpiReplicaSpecs.Worker.template.spec.containers[0]): "
        'asks for rdma/shared_ib1: 2. Write "1" for each rdma/<name>; for more bandwidth ask for several different ones'
    )
