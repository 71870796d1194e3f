"""A preview's events as a review, on small logs."""

import json
from typing import Any

import pytest

from core.pulumi_values import REDACTED
from policies.rules import RULES
from toolkit.review import comment, events, summary
from toolkit.review.model import CHANGED, UNKNOWN, Change, Op, Review
from toolkit.review.sentences import bare

SECRET = {"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "ciphertext": "[secret]"}
ENDED = {"summaryEvent": {"resourceChanges": {}, "isPreview": True}}


def state(kind: str, inputs: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return a resource as an event has it."""
    return {"type": f"kubernetes:{kind}", "urn": urn(kind), "parent": "p", "inputs": inputs, "outputs": {}, **more}


def urn(kind: str) -> str:
    """Return its URN."""
    return f"urn:pulumi:dev::hpc::hpc:a:B$kubernetes:{kind}::x"


def step(op: str, old: Any, new: Any, **more: Any) -> dict[str, Any]:
    """Return the event of a step that begins."""
    return {"resourcePreEvent": {"metadata": {"op": op, "urn": (new or old)["urn"], "old": old, "new": new, **more}}}


def change(*steps: dict[str, Any]) -> Change:
    """Return the only change of a preview."""
    (found,) = events.read([*steps, ENDED], "dev").changes
    return found


MAP = state("core/v1:ConfigMap", {"metadata": {"name": "a"}, "data": {"k": "1"}})
OTHER = state("core/v1:ConfigMap", {"metadata": {"name": "a"}, "data": {"k": "2"}})
REPLACEMENT = [("delete-replaced", MAP, None), ("replace", MAP, OTHER), ("create-replacement", MAP, OTHER)]
KEPT = {**MAP, "retainOnDelete": True}


@pytest.mark.parametrize(
    ("steps", "op", "before", "after"),
    [
        ([("same", MAP, MAP)], Op.SAME, "1", "1"),
        ([("create", None, MAP)], Op.CREATE, None, "1"),
        ([("update", MAP, OTHER)], Op.UPDATE, "1", "2"),
        ([("delete", MAP, None)], Op.DELETE, "1", None),
        ([("delete", KEPT, None)], Op.FORGET, "1", None),
        ([("discard", MAP, None)], Op.FORGET, "1", None),
        ([("import", MAP, OTHER)], Op.ADOPT, "1", "2"),
        ([("import", None, OTHER)], Op.ADOPT, None, "2"),
        ([("read", None, MAP)], Op.SAME, None, "1"),
        ([("refresh", MAP, MAP), ("same", MAP, MAP)], Op.SAME, "1", "1"),
        ([("refresh", MAP, MAP), ("update", MAP, OTHER)], Op.UPDATE, "1", "2"),
        # the three steps of a replacement, in both orders
        (REPLACEMENT, Op.REPLACE, "1", "2"),
        (REPLACEMENT[::-1], Op.REPLACE, "1", "2"),
        # what an interrupted replacement left is deleted beside the resource itself
        ([("same", OTHER, OTHER), ("delete-replaced", {**MAP, "delete": True}, None)], Op.SAME, "2", "2"),
    ],
)
def test_steps_of_one_resource_are_one_change(
    steps: list[tuple[str, Any, Any]], op: Op, before: str | None, after: str | None
) -> None:
    """All steps of one resource are one change, the weightiest."""
    found = change(*(step(*each) for each in steps))
    assert found.op is op
    assert (found.before.inputs["data"]["k"] if found.before else None) == before
    assert (found.after.inputs["data"]["k"] if found.after else None) == after


def test_objects_of_an_update_are_counted_as_in_its_review() -> None:
    """An update counts objects, each once, without components and leftovers, as the review of its preview does."""
    component = {"type": "hpc:a:B", "urn": "urn:pulumi:dev::hpc::hpc:a:B::x", "inputs": {}, "outputs": {}}
    left = step("delete-replaced", {**OTHER, "delete": True}, None)
    log = [step("create", None, component), *(step(*each) for each in REPLACEMENT), left]
    steps: dict[str, list[dict[str, Any]]] = {}
    for event in log:
        metadata = event["resourcePreEvent"]["metadata"]
        steps.setdefault(metadata["urn"], []).append(metadata | {"type": (metadata["new"] or metadata["old"])["type"]})
    assert events.counted(steps) == {Op.REPLACE: 1}
    assert summary.counted(events.counted(steps)) == "objects on the cluster: 1 replaced"
    assert "1 object: 1 replaced." in comment.write(events.read([*log, ENDED], "dev"))


def test_what_an_interrupted_replacement_left_is_reported() -> None:
    """What an interrupted replacement left, and the next update deletes, is a caution beside the unchanged resource."""
    left = state("core/v1:ConfigMap", {"metadata": {"name": "old", "namespace": "n"}}, delete=True)
    log = [step("same", MAP, MAP), step("delete-replaced", left, None), step("delete-replaced", left, None), ENDED]
    found = events.read(log, "dev")
    assert [each.object_name for each in found.leftovers] == ["old"]
    (caution,) = summary.cautions(found)
    assert "the next update deletes: ConfigMap n/old" in bare(caution)
    gone = events.read([log[1], ENDED], "dev")
    assert [(each.op, gone.leftovers) for each in gone.changes] == [(Op.DELETE, ())]  # a change of its own
    kept = step("delete-replaced", {**left, "retainOnDelete": True}, None)
    assert not events.read([log[0], kept, ENDED], "dev").leftovers
    marked = {**MAP, "id": "n/a", "delete": True}
    again = [step("create-replacement", {**MAP, "id": "n/a"}, OTHER), step("replace", marked, OTHER)]
    replaced = events.read([*again, step("delete-replaced", marked, None), ENDED], "dev")
    assert [(each.op, replaced.leftovers) for each in replaced.changes] == [(Op.REPLACE, ())]  # by this update


def test_a_replacement_says_what_for() -> None:
    """A replacement names the fields that force it."""
    paths = {"spec.template": {"diffKind": "update-replace"}, "metadata.labels.a": {"diffKind": "add"}}
    assert change(step("replace", MAP, OTHER, detailedDiff=paths, keys=["spec"])).replaced_for == ("spec.template",)
    assert change(step("replace", MAP, OTHER, detailedDiff=None, keys=["spec"])).replaced_for == ("spec",)


def test_no_secret_gets_in() -> None:
    """No value of a secret is in the change, wherever the engine has it."""
    applied = {"annotations": {"kubectl.kubernetes.io/last-applied-configuration": "planted"}, "name": "s"}
    before = state("core/v1:Secret", {"metadata": {"name": "s"}, "stringData": {"p": "planted", "q": SECRET}})
    after = {**before, "outputs": {"data": {"p": "cGxhbnRlZA=="}, "metadata": applied, "__inputs": {"a": "planted"}}}
    found = events.read([step("same", before, after), ENDED], "dev")
    assert "planted" not in repr(found)
    assert "cGxhbnRlZA" not in repr(found)
    assert found.changes[0].resource.inputs["stringData"] == {"p": REDACTED, "q": REDACTED}


@pytest.mark.parametrize(
    ("texts", "path", "expected"),
    [
        (SECRET, "stringData", CHANGED),
        (SECRET, "stringData.p", CHANGED),
        ({"p": SECRET, "q": SECRET}, "stringData.p", {"p": CHANGED, "q": REDACTED}),
        ({"p": SECRET, "q": SECRET}, "stringData", {"p": CHANGED, "q": CHANGED}),
        ({"p.q": SECRET}, 'stringData["p.q"]', {"p.q": CHANGED}),
        ({"p": SECRET}, "metadata.labels.a", {"p": REDACTED}),
    ],
)
def test_a_secret_that_changes_is_reported_without_its_value(texts: Any, path: str, expected: Any) -> None:
    """A secret with another value is a difference."""
    both = state("core/v1:Secret", {"metadata": {"name": "s"}, "stringData": texts})
    found = change(step("update", both, both, detailedDiff={path: {"diffKind": "update"}}))
    assert found.after is not None
    assert found.after.inputs["stringData"] == expected


def test_values_that_are_unknown_until_the_update() -> None:
    """Unknown values and whole floats are normalised."""
    new = state("core/v1:ConfigMap", {"data": {"k": "04da6b54-80e4-46f7-96ec-b56ff0331ba9", "n": 8.0}})
    found = change(step("create", None, new))
    assert found.resource.inputs["data"] == {"k": UNKNOWN, "n": 8}


def test_the_same_change_reads_the_same() -> None:
    """The order of events and what a dry run generates make no difference."""

    def preview(uid: str) -> list[dict[str, Any]]:
        outputs = {"metadata": {"name": "a", "uid": uid, "resourceVersion": uid}, "data": {}}
        done = {"metadata": {"op": "create", "urn": MAP["urn"], "old": None, "new": {**MAP, "outputs": outputs}}}
        warned = {"diagnosticEvent": {"severity": "warning", "message": "b"}}
        again = {"diagnosticEvent": {"severity": "warning", "message": "a", "urn": urn("core/v1:Pod")}}
        pod = state("core/v1:Pod", {})
        return [step("create", None, MAP), {"resOutputsEvent": done}, step("create", None, pod), warned, again, ENDED]

    one, other = preview("1"), preview("2")
    other = [other[2], other[4], other[0], other[1], other[3], other[5]]
    assert events.read(one, "dev") == events.read(other, "dev")
    assert events.read(one, "dev").warnings == ("Pod x: a", "b")


def _said(severity: str, message: str, **more: Any) -> dict[str, Any]:
    return {"diagnosticEvent": {"severity": severity, "message": message, **more}}


def test_messages_of_the_engine() -> None:
    """Errors and warnings are kept, messages about plugins are not."""
    log = [
        _said("warning", "using pulumi-language-python from $PATH at /x"),
        _said("debug", "x"),
        _said("info", "Waiting", ephemeral=True),
        _said("info#err", "a print of the program"),
        _said("error", "<{%red%}>no such node<{%reset%}>\n", urn=urn("core/v1:Pod")),
        _said("error", "preview failed"),
        ENDED,
    ]
    found = events.read(log, "dev", trouble="more")
    assert (found.warnings, found.failed) == ((), "Pod x: no such node")
    assert events.read([], "dev").failed == events.CUT
    assert events.read([], "dev", trouble="killed").failed == "killed"
    assert events.read([ENDED], "dev").failed == ""


def test_findings_have_their_remedy() -> None:
    """A policy's finding has its remedy once, and is not an error of the engine."""
    rule = next(rule for rule in RULES if rule.name == "image-pinned")
    text = f"<{{%fg 3%}}>image-pinned: Job a/b, container c, spec.image: no tag. {rule.remedy}<{{%reset%}}>\n"
    said = {"policyName": "image-pinned", "message": text, "enforcementLevel": "mandatory"}
    other = {"policyName": "scc-admits", "message": "scc-admits: x", "enforcementLevel": "advisory"}
    found = events.read([{"policyEvent": each} for each in (other, said, said)], "dev")
    assert [(each.policy, each.mandatory, each.message, each.remedy) for each in found.findings] == [
        ("image-pinned", True, "Job a/b, container c, spec.image: no tag", rule.remedy),
        ("scc-admits", False, "x", ""),
    ]
    assert found.failed == ""


def test_reading_is_pure() -> None:
    """Reading events does not change them."""
    log = [step("update", MAP, OTHER, detailedDiff={"data.k": {"diffKind": "update"}}), ENDED]
    kept = json.dumps(log)
    first: Review = events.read(log, "dev")
    assert first == events.read(log, "dev")
    assert json.dumps(log) == kept


def test_a_cluster_that_is_gone_is_one_line() -> None:
    """An unreachable cluster is one error, without the advice to drop resources from the state."""
    advice = "rerun with PULUMI_K8S_DELETE_UNREACHABLE=true to remove its resources from the state."
    errors = [
        {
            "diagnosticEvent": {
                "severity": "error",
                "urn": f"urn:pulumi:d::hpc::kubernetes:core/v1:Pod::{n}",
                "message": m,
            }
        }
        for n in range(55)
        for m in (
            f"Preview failed: the API server cannot be reached. {advice}",
            "configured Kubernetes cluster is unreachable",
        )
    ]
    found = events.read(errors, "dev")
    assert found.failed == events.UNREACHABLE
