"""Every rule over every fixture as a manifest, and what findings say; `test_pack_servicer.py` has the other shape."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_type_hints

import pytest

from core.apis.kind import EVERY
from core.apis.kinds import KINDS, Kind
from core.pulumi_values import REDACTED
from policies import rules
from policies.check import Checker
from policies.configuration import Configuration
from policies.manifests.inventory import Inventory
from policies.manifests.objects import objects
from policies.rule import AnyRule, Finding, Severity, redact
from policies.rules import RULES, pods
from tests.policies.conftest import Case, cases, cases_of, findings, rule_named

_MOST_MISSING = 3
"""securityContext, capabilities and add, say."""
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
    return list(Checker(wanted).check(found, Inventory(found)))


@EACH_RULE
def test_fixtures(rule: AnyRule) -> None:
    """Each rule finds in its fixtures what they expect."""
    for case in cases_of(rule):
        _hold(case, findings(case))


@EACH_RULE
def test_findings_say_where(rule: AnyRule) -> None:
    """The path of each finding leads to a field, or to where one is missing, at most with two around it."""
    for case in cases_of(rule):
        for finding in findings(case):
            missing = min((_missing(manifest, finding.path) for manifest in case.manifests), key=len)
            assert len(missing) <= _MOST_MISSING, finding
            assert not any(isinstance(step, int) for step in missing), f"no entry of a list is missing: {finding}"


def _missing(manifest: Mapping[str, Any], path: tuple[str | int, ...]) -> tuple[str | int, ...]:
    """Return the steps of a path at its end that an object does not have."""
    found: Any = manifest
    for count, step in enumerate(path):
        try:
            found = found[step]
        except (KeyError, IndexError, TypeError):
            return path[count:]
    return ()


@EACH_RULE
def test_parameters_are_what_examine_takes(rule: AnyRule) -> None:
    """The model of a rule's parameters is the one that its function takes."""
    _, _, taken, _ = get_type_hints(rule.examine).values()
    assert rule.parameters is taken


@EACH_RULE
def test_each_rule_has_both_fixtures(rule: AnyRule) -> None:
    """Each rule has a manifest that it allows and one that it denies."""
    sides = {case.name.partition("/")[0] for case in cases_of(rule)}
    missing = [
        f"policies/fixtures/{rule.name}/{side}/<case>.yaml" for side in ("allowed", "denied") if side not in sides
    ]
    assert not missing, f"add {' and '.join(missing)}; tests/policies/conftest.py says what is in one"


def test_fixtures_name_rules() -> None:
    """Each folder of fixtures has its rule."""
    unknown = {case.rule for case in cases()} - {rule.name for rule in RULES}
    assert not unknown, f"rename or delete in policies/fixtures what has no rule: {', '.join(sorted(unknown))}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"policies/rules/pods/planted\.py defines no rule; define one"),
        (
            "from policies.rules.gpu.limits import GPU_LIMIT as OTHER_NAME\n",
            r"planted\.py: OTHER_NAME is the rule 'gpu-limit'; name it 'other-name', or rename the constant",
        ),
    ],
)
def test_a_module_without_its_rule_is_refused(
    text: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A module that defines no rule, or one in a constant of another name, fails when the rules are imported."""
    monkeypatch.setattr(pods, "__path__", [*pods.__path__, str(tmp_path)])
    monkeypatch.delitem(sys.modules, "policies.rules.pods.planted", raising=False)
    (tmp_path / "planted.py").write_text(text)
    with pytest.raises(TypeError, match=message):
        list(rules._rules("policies.rules.pods.planted"))


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind.pod_templates], ids=lambda kind: str(kind.api_version))
def test_every_kind_with_pods_is_walked(kind: Kind) -> None:
    """The pods of every kind in `core.apis.kinds` with pod templates are examined."""
    container = {"name": "c", "resources": {"limits": {"rdma/shared_ib0": 2}}}
    for path in kind.pod_templates:
        manifest: Any = {"spec": {"containers": [container]}}
        for key in reversed(path):
            manifest = [manifest] if key == EVERY else {key: manifest}
        manifest |= {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {"name": "x"}}
        assert {finding.rule for finding in _check(manifest)} == {"rdma-ipc-lock", "rdma-exactly-one"}


def test_another_version_of_a_kind_is_walked() -> None:
    """A kind is examined in versions that `core.apis.kinds` does not list."""
    container = {"name": "c", "resources": {"limits": {"nvidia.com/gpu": 99}}}
    template = {"spec": {"containers": [container]}}
    manifest = {
        "apiVersion": "batch/v1beta1",
        "kind": "CronJob",
        "spec": {"jobTemplate": {"spec": {"template": template}}},
    }
    assert [finding.rule for finding in _check(manifest)] == ["gpu-limit"]


def test_a_list_is_opened() -> None:
    """Items of a `List` are examined, however deep."""
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "spec": {"containers": [{"name": "c", "resources": {"limits": {"rdma/a": 3}}}]},
    }
    inner = {"apiVersion": "v1", "kind": "PodList", "items": [pod]}
    assert len(_check({"apiVersion": "v1", "kind": "List", "items": [inner]})) == 2


def test_limits_of_a_stack() -> None:
    """A rule uses its configured parameters."""
    job = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "x"},
        "spec": {"containers": [{"name": "c", "resources": {"limits": {"nvidia.com/gpu": 8}}}]},
    }
    rule = rule_named("gpu-limit")
    found = list(objects(job))
    configuration = {"gpu-limit": {"maximum": 4}}
    assert list(Checker([rule]).check(found, Inventory(found))) == []
    assert len(list(Checker([rule], Configuration(configuration)).check(found, Inventory(found)))) == 1


def test_one_unknown_hides_nothing_else() -> None:
    """An unknown value is reported beside the violations of other containers."""
    case = next(case for case in cases() if str(case) == "rdma-ipc-lock/denied/unknown-and-wrong-neighbour")
    assert [finding.undetermined is None for finding in findings(case)] == [False, True]


def test_level_of_doubts() -> None:
    """Undetermined findings are advisory by default."""
    case = next(case for case in cases() if str(case) == "rdma-ipc-lock/denied/unknown-capabilities")
    assert {finding.severity for finding in findings(case)} == {Severity.ADVISORY}


def test_finding_reads_well() -> None:
    """A finding as text has rule, object, container, field, message and remedy."""
    case = next(case for case in cases() if case.name == "denied/mpijob-two")
    (finding,) = findings(case)
    assert str(finding) == (
        "rdma-exactly-one: MPIJob adas/nccl-test, container nccl, "
        "spec.mpiReplicaSpecs.Worker.template.spec.containers[0].resources.limits[rdma/shared_ib1]: "
        'asks for rdma/shared_ib1: 2. Write "1" for each rdma/<name>; for more bandwidth ask for several different ones'
    )


Tree = dict[str, Any]


def _pod(name: str = "x", **container: Any) -> Tree:
    containers = [{"name": "c", **container}]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {"containers": containers}}


REMEDIES: tuple[tuple[str, Tree, str], ...] = (
    ("valid-names", _pod(name="A_b"), "lowercase letters, digits, - and ."),
    ("nccl-environment", _pod(env=[{"name": "NCCL_DEBUG", "value": "TRACE"}]), "Set NCCL_DEBUG to INFO"),
    (
        "baseline-capabilities",
        _pod(securityContext={"capabilities": {"add": ["SYS_TIME"]}}),
        "parameter infrastructure of this rule or write an exception into policies/exceptions.yaml",
    ),
    (
        "image-registry",
        _pod(image="quay.example.com/team/train:1"),
        "Write a known registry, or add quay.example.com to the parameter `more` of image-registry",
    ),
    ("image-registry", _pod(image="nvcv.io/nvidia/cuda:1"), "Write nvcr.io, or add nvcv.io to the parameter `more`"),
    ("known-fields", _pod(stdin="true"), "Write true or false, without quotes"),
    ("known-fields", _pod(image=7), "Write a text"),
    ("known-fields", _pod(command="sleep 1"), "Write a list"),
    ("known-fields", _pod(imagePullPolicy="allways"), "Write Always"),
    ("known-fields", _pod(resources={"limits": {"memory": "1GB"}}), "Write 1Gi"),
    ("known-fields", _pod(imagepullpolicy="Always"), "Correct the name"),
    ("known-fields", {"apiVersion": "v1", "kind": "pod"}, "Write kind: Pod"),
    ("rdma-ipc-lock", _pod(securityContext={"capabilities": {"add": ["IPC_LOCK"]}}), "Delete IPC_LOCK"),
)


@pytest.mark.parametrize(("rule", "manifest", "remedy"), REMEDIES, ids=[f"{row[0]}-{row[2][:20]}" for row in REMEDIES])
def test_remedy_fits_the_finding(rule: str, manifest: Tree, remedy: str) -> None:
    """A finding for which its rule's remedy does not fit has one of its own."""
    found = list(objects(manifest))
    (finding,) = Checker([rule_named(rule)]).check(found, Inventory(found, complete=True))
    assert remedy in finding.remedy, finding.remedy
    assert not finding.remedy.endswith(".")


def test_neither_message_nor_remedy_shows_a_secret() -> None:
    """Secrets are removed from the remedies of findings, too."""
    finding = Finding("a", Severity.MANDATORY, "Pod x", "comes from hunter2.example", "Add hunter2.example")
    assert str(redact(finding, ["hunter2"])) == f"a: Pod x: comes from {REDACTED}.example. Add {REDACTED}.example"
