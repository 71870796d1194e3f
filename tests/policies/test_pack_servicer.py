"""The pack through its server object: numbers are floats there, and kind and version may be in the type token only."""

from dataclasses import replace
from datetime import date
from typing import Any

import pytest
from pulumi.runtime.proto import analyzer_pb2 as messages
from pulumi_policy.deserialize import SPECIAL_SECRET_SIG, SPECIAL_SIG_KEY

from policies.configuration import ConfigurationError, divided
from policies.exceptions import RuleException
from policies.findings import Doubt, Finding
from policies.pack.objects import as_objects
from policies.pack.wire import Properties
from policies.redaction import redact, secret_texts, texts
from policies.rule import AnyRule
from policies.rules import RULES
from policies.values import read
from rendering.manifests import manifests
from tests.policies.conftest import Case, cases, cases_of, findings, rule_named, unknowns
from tests.policies.servicer import STACK, Servicer, token_of, urn, wired
from tests.support.recorded import environment

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
    wanted = sorted(str(finding) for finding in found if finding.doubt is None)
    assert sorted(f"{case.rule}: {message}" for message in _said(said, case.rule)) == wanted, case
    for doubt in Doubt:
        places = {(finding.object, finding.message) for finding in found if finding.doubt is doubt}
        messages = _said(said, doubt)
        assert all(any(name in each and message in each for each in messages) for name, message in places), messages
        assert bool(messages) == bool(places)


@pytest.mark.parametrize("rule", OBJECTS, ids=lambda rule: str(rule.name))
def test_object_rules(rule: AnyRule) -> None:
    """A pack that says something else than `./hpc check` on the same object."""
    for case in cases_of(rule):
        if len(case.manifests) == 1:
            (manifest,) = case.manifests
            said = Servicer([rule], {rule.name: case.parameters}).analyze(token_of(manifest), manifest)
            _hold(case, said, findings(wired(case)))


@pytest.mark.parametrize("rule", LINKS, ids=lambda rule: str(rule.name))
def test_link_rules(rule: AnyRule) -> None:
    """A rule about links that runs over one resource at a time, or over a stack that it takes for a part."""
    for case in cases_of(rule):
        servicer = Servicer([rule], {rule.name: case.parameters, "whole-stack": {"complete": case.complete}})
        stack = [(token_of(manifest), manifest, f"r{index}") for index, manifest in enumerate(case.manifests)]
        said = servicer.analyze_stack(stack)
        _hold(case, said, findings(wired(case)))
        assert all(entry.urn in {urn(token, name) for token, _, name in stack} for entry in said), case


def test_kind_comes_from_the_token() -> None:
    """A resource whose inputs leave out kind and version and that no rule recognises for that reason."""
    inputs = {"spec": {"containers": [{"name": "c", "resources": {"limits": {"rdma/a": 2}}}]}}
    said = {entry.policyName for entry in Servicer().analyze(POD, inputs)}
    assert said >= {"rdma-ipc-lock", "rdma-exactly-one"}


@pytest.mark.parametrize(
    "token", ["hpc:rdma:SharedDevicePlugin", "pulumi:providers:kubernetes", "kubernetes:helm.sh/v3:Release"]
)
def test_other_resources_pass(token: str) -> None:
    """Components, providers and charts, which are no objects of a cluster, must not trip a rule."""
    inputs = {"spec": {"containers": [{"name": "c", "resources": {"limits": {"rdma/a": 2}}}]}}
    assert Servicer().analyze(token, inputs) == []


def test_a_list_is_opened() -> None:
    """A `List` that carries its items, or an unknown value in one, past the rules."""
    limits = [{"rdma/a": 3}, {"rdma/a": "<unknown>"}]
    items = unknowns([_pod(resources={"limits": each}) for each in limits])
    said = Servicer([rule_named("rdma-exactly-one")]).analyze(
        "kubernetes:core/v1:List", {"apiVersion": "v1", "kind": "List", "items": items}
    )
    assert [entry.policyName for entry in said] == ["rdma-exactly-one", Doubt.VALUE]
    typed = [{key: value for key, value in item.items() if key not in ("apiVersion", "kind")} for item in items]
    said = Servicer([rule_named("rdma-exactly-one")]).analyze("kubernetes:core/v1:PodList", {"items": typed})
    assert [entry.policyName for entry in said] == ["rdma-exactly-one", Doubt.VALUE]


def test_levels() -> None:
    """A stack that wants to be sure before the update and gets advice only, or that cannot switch a rule off."""
    pod = unknowns(_pod(resources={"limits": {"rdma/a": "<unknown>"}}))
    rules = [rule_named("rdma-exactly-one")]
    for level in ("advisory", "mandatory"):
        (said,) = Servicer(rules, {Doubt.VALUE: {}}, level).analyze(POD, pod)
        assert said.enforcementLevel == {"advisory": 0, "mandatory": 1}[level]
    for name in (Doubt.VALUE, "rdma-exactly-one"):
        assert Servicer(rules, {name: {}}, "disabled").analyze(POD, pod) == []


def test_one_doubt_for_all_rules_that_share_it() -> None:
    """A list of the same unknown value once per rule, in which nobody finds the violation."""
    pod = unknowns(_pod(resources="<unknown>"))
    names = ["gpu-limit", "rdma-exactly-one"]
    (said,) = Servicer(map(rule_named, names)).analyze(POD, pod)
    assert "Pod x: cannot be verified: spec.containers[0].resources is not known before the update" in said.message
    assert said.message.endswith(f"Rules that need it: {', '.join(names)}")


def test_parameters_reach_doubts() -> None:
    """A doubt of a rule that is switched off, or one request's doubts told in the next."""
    pod = unknowns(_pod(resources={"limits": {"rdma/a": "<unknown>"}}))
    servicer = Servicer([rule_named("rdma-exactly-one")])
    assert [len(servicer.analyze(POD, pod)) for _ in range(3)] == [1, 1, 1]
    assert servicer.analyze(POD, _pod()) == []


def test_configuration_reaches_the_rules() -> None:
    """A pack configured for smaller machines that still measures against the largest known one."""
    pod = _pod(resources={"limits": {"nvidia.com/gpu": 8}})
    rules = [rule_named("gpu-limit")]
    assert Servicer(rules).analyze(POD, pod) == []
    assert len(Servicer(rules, {"gpu-limit": {"maximum": 4}}).analyze(POD, pod)) == 1


def test_server_fields_are_no_declaration() -> None:
    """A status, or a field of the server's that a preview does not know, held against whoever declared the object."""
    pod = unknowns(_pod() | {"status": "<unknown>", "__inputs": {}})
    pod["metadata"] |= {"managedFields": "<unknown>", "uid": "<unknown>", "resourceVersion": "1"}
    (subject,) = as_objects(POD, Properties(pod), "x", live=True)
    assert (subject.tree, subject.unknown) == (_pod(), ())


def test_patches_are_partial() -> None:
    """A patch, which has the changed fields only, measured as a whole object."""
    node = {"metadata": {"name": "n"}, "kind": "Node", "apiVersion": "v1"}
    (subject,) = as_objects("kubernetes:core/v1:NodePatch", Properties(node), "x")
    assert subject.partial
    assert subject.kind == "Node"


@pytest.mark.parametrize(("kind", "policy"), [("ServiceAccount", Doubt.LINK), ("ConfigMap", "rdma-account")])
def test_a_link_to_what_is_not_known_yet(kind: str, policy: str) -> None:
    """A link reported as broken since its other end gets a name late; or one such object that hides what is missing."""
    case = next(case for case in cases_of(rule_named("rdma-account")) if _lacks_an_end(case))
    stack = [(token_of(manifest), manifest, f"r{index}") for index, manifest in enumerate(case.manifests)]
    late = unknowns({"apiVersion": "v1", "kind": kind, "metadata": {"name": "<unknown>", "namespace": "adas"}})
    said = Servicer([rule_named(case.rule)]).analyze_stack([*stack, (f"kubernetes:core/v1:{kind}", late, "late")])
    assert {entry.policyName for entry in said} == {policy}


def _lacks_an_end(case: Case) -> bool:
    return {finding.doubt for finding in findings(replace(case, complete=False))} == {Doubt.LINK}


def _exception(expires: date) -> RuleException:
    return RuleException(rule="rdma-exactly-one", object="Pod *", reason="agreed with nobody", expires=expires)


def test_exceptions() -> None:
    """An exception that only `./hpc check` knows, or one that goes on for ever."""
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
    assert (said.policyName, said.urn) == ("exceptions", urn(STACK[0], STACK[2]))


def test_secrets_stay_out_of_messages() -> None:
    """A password in the log of a pull request, since a message quotes the value that it is about."""
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
        said = redact(replace(finding, message=f"has {text} in it"), secret_texts([subject], ["marked"]))
        assert said.message == "has [secret] in it"


def test_what_the_engine_marks_as_secret_stays_out_of_messages() -> None:
    """A secret of the program's in an object that is no Secret, quoted by a rule."""
    pod = _pod(resources={"limits": {"rdma/a": {SPECIAL_SIG_KEY: SPECIAL_SECRET_SIG, "value": "12345"}}})
    (said,) = Servicer([rule_named("rdma-exactly-one")]).analyze(POD, pod)
    assert "asks for rdma/a: [secret]" in said.message


def test_every_rule_has_its_policy() -> None:
    """A rule that the pack leaves out, or whose level the engine does not know."""
    found = Servicer().policies()
    assert set(found) == {*(rule.name for rule in RULES), *Doubt, "whole-stack", "exceptions"}
    for rule in RULES:
        level = messages.EnforcementLevel.Name(found[rule.name].enforcementLevel)
        assert level == rule.severity.upper()
        assert found[rule.name].remediation_steps == rule.remedy


def test_schemas_stand_alone() -> None:
    """A schema with a reference that the engine, which takes properties only, cannot follow."""
    schemas = Servicer().schemas()
    for rule in RULES:
        assert set(schemas[rule.name]) == set(rule.parameters.model_fields)
    assert "$ref" not in str(schemas)


def test_a_wrong_configuration_is_named() -> None:
    """A slip in the configuration that is passed over, so that the rule holds nobody to anything."""
    for name, words in (
        ("gpu-limit", r"gpu-limit\.most"),
        ("nosuch", "no such rule"),
        ("exceptions", "not most"),
    ):
        with pytest.raises(ConfigurationError, match=words):
            Servicer(configuration={name: {"most": 4}})


def test_level_of_exceptions() -> None:
    """A stack that cannot put off the renewal of an exception."""
    day = date(2026, 7, 1)
    for level, count in (("advisory", 1), ("disabled", 0)):
        servicer = Servicer([], {"exceptions": {}}, level, [_exception(date(2026, 6, 30))], day)
        assert [entry.enforcementLevel for entry in servicer.analyze_stack([])] == [0] * count


@pytest.mark.parametrize("case", [case for case in cases() if case.rule == "credentials-in-secrets"], ids=str)
def test_a_credential_is_not_repeated(case: Case) -> None:
    """A finding about a password in plain sight that carries it into every log of a pull request."""
    for finding in findings(case):
        found = [read(manifest, *finding.path) for manifest in case.manifests]
        assert not any(text in finding.message for value in found for text in texts(value) if len(text) > 3)


def test_links_end_at_what_other_stacks_have() -> None:
    """Prevents tenants' links to the SCC of their platform from dangling, and those to nothing from being excused."""
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
    with pytest.raises(ConfigurationError, match=r"whole-stack.beside: a list of manifests is wanted"):
        divided({"whole-stack": {"beside": "file"}})
