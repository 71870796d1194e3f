"""The pack through its server object: numbers are floats there, and kind and version may be in the type token only."""

import sys
from dataclasses import replace
from datetime import date
from typing import Any

import pytest
from pulumi.runtime.proto import analyzer_pb2 as messages
from pulumi_policy.deserialize import SPECIAL_SECRET_SIG, SPECIAL_SIG_KEY

from policies.configuration import ConfigurationError, divide
from policies.exceptions import RuleException
from policies.manifests.values import read
from policies.pack.resources import Properties, as_objects
from policies.rule import AnyRule, Finding, Undetermined, redact, secret_texts, texts
from policies.rules import RULES
from tests.policies.conftest import Case, cases, cases_of, findings, rule_named, unknowns
from tests.policies.servicer import Servicer, token_of, urn, wired
from tests.support.recorded import ROOT, environment
from toolkit.render.manifests import manifests

OBJECTS = [rule for rule in RULES if not rule.links]
LINKS = [rule for rule in RULES if rule.links]
POD = "kubernetes:core/v1:Pod"


def _pod(**container: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "x"},
        "spec": {"containers": [{"name": "c", **container}]},
    }


def _said(found: list[Any], policy: str) -> list[str]:
    return [entry.message for entry in found if entry.policyName == policy]


def _hold(case: Case, said: list[Any], found: list[Finding]) -> None:
    wanted = sorted(str(finding) for finding in found if finding.undetermined is None)
    assert sorted(f"{case.rule}: {message}" for message in _said(said, case.rule)) == wanted, case
    for doubt in Undetermined:
        places = {(finding.object, finding.message) for finding in found if finding.undetermined is doubt}
        messages = _said(said, doubt)
        assert all(any(name in each and message in each for each in messages) for name, message in places), messages
        assert bool(messages) == bool(places)


@pytest.mark.parametrize("rule", OBJECTS, ids=lambda rule: str(rule.name))
def test_object_rules(rule: AnyRule) -> None:
    """The pack reports the same as `./hpc check` on the same object."""
    for case in cases_of(rule):
        if len(case.manifests) == 1:
            (manifest,) = case.manifests
            said = Servicer([rule], {rule.name: case.parameters}).analyze(token_of(manifest), manifest)
            _hold(case, said, findings(wired(case)))


@pytest.mark.parametrize("rule", LINKS, ids=lambda rule: str(rule.name))
def test_link_rules(rule: AnyRule) -> None:
    """Rules about links run over the whole stack, as complete as the fixture says."""
    for case in cases_of(rule):
        servicer = Servicer([rule], {rule.name: case.parameters, "whole-stack": {"complete": case.complete}})
        stack = [(token_of(manifest), manifest, f"r{index}") for index, manifest in enumerate(case.manifests)]
        said = servicer.analyze_stack(stack)
        _hold(case, said, findings(wired(case)))
        assert all(entry.urn in {urn(token, name) for token, _, name in stack} for entry in said), case


def test_kind_comes_from_the_token() -> None:
    """Kind and version come from the resource's type when the inputs lack them."""
    inputs = {"spec": {"containers": [{"name": "c", "resources": {"limits": {"rdma/a": 2}}}]}}
    said = {entry.policyName for entry in Servicer().analyze(POD, inputs)}
    assert said >= {"rdma-ipc-lock", "rdma-exactly-one"}


@pytest.mark.parametrize(
    "token", ["hpc:rdma:SharedDevicePlugin", "pulumi:providers:kubernetes", "kubernetes:helm.sh/v3:Release"]
)
def test_other_resources_pass(token: str) -> None:
    """Components, providers and charts, which are not objects of a cluster, are not examined."""
    inputs = {"spec": {"containers": [{"name": "c", "resources": {"limits": {"rdma/a": 2}}}]}}
    assert Servicer().analyze(token, inputs) == []


def test_a_list_is_opened() -> None:
    """Items of a `List` and unknown values in them are examined."""
    limits = [{"rdma/a": 3}, {"rdma/a": "<unknown>"}]
    items = unknowns([_pod(resources={"limits": each}) for each in limits])
    said = Servicer([rule_named("rdma-exactly-one")]).analyze(
        "kubernetes:core/v1:List", {"apiVersion": "v1", "kind": "List", "items": items}
    )
    assert [entry.policyName for entry in said] == ["rdma-exactly-one", Undetermined.VALUE]
    typed = [{key: value for key, value in item.items() if key not in ("apiVersion", "kind")} for item in items]
    said = Servicer([rule_named("rdma-exactly-one")]).analyze("kubernetes:core/v1:PodList", {"items": typed})
    assert [entry.policyName for entry in said] == ["rdma-exactly-one", Undetermined.VALUE]


def test_levels() -> None:
    """The level of undetermined findings can be set, and a rule can be disabled."""
    pod = unknowns(_pod(resources={"limits": {"rdma/a": "<unknown>"}}))
    rules = [rule_named("rdma-exactly-one")]
    for level in ("advisory", "mandatory"):
        (said,) = Servicer(rules, {Undetermined.VALUE: {}}, level).analyze(POD, pod)
        assert said.enforcementLevel == {"advisory": 0, "mandatory": 1}[level]
    for name in (Undetermined.VALUE, "rdma-exactly-one"):
        assert Servicer(rules, {name: {}}, "disabled").analyze(POD, pod) == []


def test_one_doubt_for_all_rules_that_share_it() -> None:
    """An unknown value that several rules need is one diagnostic, which names them."""
    pod = unknowns(_pod(resources="<unknown>"))
    names = ["gpu-limit", "rdma-exactly-one"]
    (said,) = Servicer(map(rule_named, names)).analyze(POD, pod)
    assert "Pod x: cannot be verified: spec.containers[0].resources is unknown until the update" in said.message
    assert said.message.endswith(f"Rules that need it: {', '.join(names)}")


def test_parameters_reach_doubts() -> None:
    """A disabled rule has no undetermined findings, and no request's findings reach the next."""
    pod = unknowns(_pod(resources={"limits": {"rdma/a": "<unknown>"}}))
    servicer = Servicer([rule_named("rdma-exactly-one")])
    assert [len(servicer.analyze(POD, pod)) for _ in range(3)] == [1, 1, 1]
    assert servicer.analyze(POD, _pod()) == []


def test_configuration_reaches_the_rules() -> None:
    """A rule uses the parameters that the engine sends."""
    pod = _pod(resources={"limits": {"nvidia.com/gpu": 8}})
    rules = [rule_named("gpu-limit")]
    assert Servicer(rules).analyze(POD, pod) == []
    assert len(Servicer(rules, {"gpu-limit": {"maximum": 4}}).analyze(POD, pod)) == 1


def test_server_fields_are_no_declaration() -> None:
    """Fields that the server sets are not examined, whether they are known or not."""
    pod = unknowns(_pod() | {"status": "<unknown>", "__inputs": {}})
    pod["metadata"] |= {"managedFields": "<unknown>", "uid": "<unknown>", "resourceVersion": "1"}
    (subject,) = as_objects(POD, Properties(pod), "x", live=True)
    assert (subject.tree, subject.unknown) == (_pod(), ())


def test_patches_are_partial() -> None:
    """A patch is not examined as a whole object."""
    node = {"metadata": {"name": "n"}, "kind": "Node", "apiVersion": "v1"}
    (subject,) = as_objects("kubernetes:core/v1:NodePatch", Properties(node), "x")
    assert subject.partial
    assert subject.kind == "Node"


@pytest.mark.parametrize(("kind", "policy"), [("ServiceAccount", Undetermined.LINK), ("ConfigMap", "rdma-account")])
def test_a_link_to_what_is_not_known_yet(kind: str, policy: str) -> None:
    """A link to a kind with an object of unknown name is undetermined; links to other kinds are violations."""
    case = next(case for case in cases_of(rule_named("rdma-account")) if _lacks_an_end(case))
    stack = [(token_of(manifest), manifest, f"r{index}") for index, manifest in enumerate(case.manifests)]
    late = unknowns({"apiVersion": "v1", "kind": kind, "metadata": {"name": "<unknown>", "namespace": "adas"}})
    said = Servicer([rule_named(case.rule)]).analyze_stack([*stack, (f"kubernetes:core/v1:{kind}", late, "late")])
    assert {entry.policyName for entry in said} == {policy}


def _lacks_an_end(case: Case) -> bool:
    return {finding.undetermined for finding in findings(replace(case, complete=False))} == {Undetermined.LINK}


def _exception(expires: date) -> RuleException:
    return RuleException(rule="rdma-exactly-one", object="Pod *", reason="agreed with nobody", expires=expires)


def test_exceptions() -> None:
    """Exceptions apply in the pack until their last day."""
    pod = _pod(resources={"limits": {"rdma/a": 2}})
    rules = [rule_named("rdma-exactly-one")]
    day = date(2026, 6, 30)
    until_today = Servicer(rules, exceptions=[_exception(day)], today=day)
    assert until_today.analyze(POD, pod) == []
    assert until_today.analyze_stack([(POD, pod, "x")]) == []
    ended = Servicer(rules, exceptions=[_exception(day)], today=date(2026, 7, 1))
    (said,) = ended.analyze(POD, pod)
    assert "its exception ended on 2026-06-30" in said.message
    (said,) = ended.analyze_stack([(POD, pod, "x")])
    assert (said.policyName, said.urn) == ("exceptions", "")


def test_secrets_stay_out_of_messages() -> None:
    """Messages do not contain values of Secrets."""
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "s"},
        "data": {"a": "aHVudGVyMg=="},
        "stringData": {"b": "correct horse", "c": "abc"},
    }
    (subject,) = as_objects("kubernetes:core/v1:Secret", Properties(secret), "s")
    finding = findings(next(case for case in cases() if case.expect))[0]
    for text in ("hunter2", "aHVudGVyMg==", "correct horse", "marked"):
        said = redact(finding._replace(message=f"has {text} in it"), secret_texts([subject], ["marked"]))
        assert said.message == "has [secret] in it"


def test_what_the_engine_marks_as_secret_stays_out_of_messages() -> None:
    """Messages do not contain what the program marks as secret, in any kind of object."""
    pod = _pod(resources={"limits": {"rdma/a": {SPECIAL_SIG_KEY: SPECIAL_SECRET_SIG, "value": "12345"}}})
    (said,) = Servicer([rule_named("rdma-exactly-one")]).analyze(POD, pod)
    assert "asks for rdma/a: [secret]" in said.message


def test_every_rule_has_its_policy() -> None:
    """The pack lists every rule and every other policy with a level."""
    found = Servicer().policies()
    assert set(found) == {*(rule.name for rule in RULES), *Undetermined, "whole-stack", "exceptions", "own-rules"}
    for rule in RULES:
        level = messages.EnforcementLevel.Name(found[rule.name].enforcementLevel)
        assert level == rule.severity.upper()
        assert found[rule.name].remediation_steps == rule.remedy


def test_schemas_stand_alone() -> None:
    """Schemas have no references, as the engine takes properties only."""
    schemas = Servicer().schemas()
    for rule in RULES:
        assert set(schemas[rule.name]) == set(rule.parameters.model_fields)
    assert "$ref" not in str(schemas)


def test_a_wrong_configuration_is_named() -> None:
    """A configuration with an unknown field or a wrong value is refused by name."""
    for name, words in (
        ("gpu-limit", r"gpu-limit\.most"),
        ("nosuch", "no such rule"),
        ("exceptions", "not most"),
    ):
        with pytest.raises(ConfigurationError, match=words):
            Servicer(configuration={name: {"most": 4}})


def test_level_of_exceptions() -> None:
    """The level of expired exceptions can be set."""
    day = date(2026, 7, 1)
    for level, count in (("advisory", 1), ("disabled", 0)):
        servicer = Servicer([], {"exceptions": {}}, level, [_exception(date(2026, 6, 30))], day)
        pod = _pod()
        assert [entry.enforcementLevel for entry in servicer.analyze_stack([(POD, pod, "x")])] == [0] * count


def test_an_ended_exception_of_another_stack_is_not_reported() -> None:
    """An exception that names no object of the stack is none of its business."""
    other = _exception(date(2026, 6, 30)).model_copy(update={"object": "Job */of-another-stack*"})
    servicer = Servicer([], exceptions=[other], today=date(2026, 7, 1))
    assert servicer.analyze_stack([(POD, _pod(), "x")]) == []


@pytest.mark.parametrize("case", [case for case in cases() if case.rule == "credentials-in-secrets"], ids=str)
def test_a_credential_is_not_repeated(case: Case) -> None:
    """A finding about a plain password does not contain it."""
    for finding in findings(case):
        found = [read(manifest, *finding.path) for manifest in case.manifests]
        assert not any(text in finding.message for value in found for text in texts(value) if len(text) > 3)


def test_links_end_at_what_other_stacks_have() -> None:
    """Links may end at manifests of other stacks; links to nothing are violations."""
    platform, tenants = (manifests(environment(stack)) for stack in ("two-layers", "two-layers-tenants"))
    stack = [(token_of(manifest), manifest, f"r{index}") for index, manifest in enumerate(tenants)]

    def said(beside: list[dict[str, Any]]) -> list[str]:
        rule = rule_named("rdma-account")
        servicer = Servicer([rule], {rule.name: {}, "whole-stack": {"beside": beside}})
        return _said(servicer.analyze_stack(stack), rule.name)

    assert said(platform) == []
    assert said([each for each in platform if each["kind"] != "SecurityContextConstraints"])
    broken = [{**each, "metadata": {**each["metadata"], "name": "Not A Name"}} for each in platform]
    urns = {urn(token, name) for token, _, name in stack}
    servicer = Servicer(configuration={"whole-stack": {"beside": broken}})
    assert all(entry.urn in urns for entry in servicer.analyze_stack(stack)), "objects of others are not examined"
    with pytest.raises(ConfigurationError, match=r"whole-stack.beside: must be a list of manifests"):
        divide({"whole-stack": {"beside": "file"}})


def test_no_module_of_the_pack_hides_one_of_python() -> None:
    """The engine starts the pack with its folder first in the path, where `selectors` would be the pack's."""
    modules = {path.stem for path in (ROOT / "policies").iterdir()}
    assert modules & sys.stdlib_module_names == set()
