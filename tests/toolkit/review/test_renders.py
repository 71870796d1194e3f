"""What two renders of a stack differ in."""

from typing import Any

import pytest

from core.pulumi_values import REDACTED
from tests.support.reviews import review, same
from toolkit.review import renders
from toolkit.review.model import Change, Op
from toolkit.review.renders import Rendered

URN = "urn:pulumi:dev::hpc::pulumi:pulumi:Stack$hpc:a:B${}::x"


def rendered(kind: str, inputs: dict[str, Any], **more: Any) -> Rendered:
    """Return a resource as a render writes it."""
    return renders.read(
        {"type": f"kubernetes:{kind}", "urn": URN.format(f"kubernetes:{kind}"), "inputs": inputs, **more}
    )


def said(**paths: bool) -> renders.Difference:
    """Return what a provider would say of any two."""
    return lambda *_: paths


@pytest.mark.parametrize(
    ("before", "after", "paths", "op", "forcing"),
    [
        ({}, {}, {}, Op.UPDATE, ()),
        ({}, {}, {"data": True}, Op.REPLACE, ("spec",)),
        ({"replacement_trigger": 1}, {"replacement_trigger": 2}, {}, Op.REPLACE, ()),
        ({}, {"replace_on_changes": ["spec"]}, {}, Op.REPLACE, ("spec",)),
        ({}, {"replace_on_changes": ["*"]}, {}, Op.REPLACE, ("spec",)),
        ({}, {"replace_on_changes": ["metadata"]}, {}, Op.UPDATE, ()),
        ({}, {"ignore_changes": ["spec"]}, {}, Op.SAME, ()),
    ],
)
def test_what_an_update_becomes(
    before: dict[str, Any], after: dict[str, Any], paths: dict[str, bool], op: Op, forcing: tuple[str, ...]
) -> None:
    """Changes that force a replacement are replacements."""
    old, new = rendered("b/v1:C", {"spec": 1}, **before), rendered("b/v1:C", {"spec": 2}, **after)
    (change,) = renders.compare([old], [new], said(spec=bool(paths)))
    assert (change.op, change.replaced_for) == (op, forcing)


def test_only_fields_that_are_declared_otherwise_are_reasons() -> None:
    """A field that only the API server writes in another form, `"1"` for `1`, is not a reason of a replacement."""
    old, new = (rendered("b/v1:C", {"spec": {"image": image, "limits": {"a/b": 1}}}) for image in ("a", "b"))
    found = {"spec.image": True, "spec.limits.a/b": True}
    (change,) = renders.compare([old], [new], lambda *_: found)
    assert (change.op, change.replaced_for) == (Op.REPLACE, ("spec.image",))


def test_what_an_object_keeps_is_reported() -> None:
    """Fields that the program declares otherwise and the update leaves are reported, of commits and of a preview."""
    kept = {"ignore_changes": ["spec"]}
    old, new = (rendered("b/v1:C", {"spec": {"image": image, "args": ["a"]}}, **kept) for image in ("a", "b"))
    (change,) = renders.compare([old], [new], said(**{"spec.image": True}))
    assert (change.op, change.kept) == (Op.SAME, ("spec.image",))
    previewed = [same(old.resource), Change(Op.REPLACE, old.resource, new.resource)]
    for before, expected in zip(previewed, (("spec.image",), ()), strict=True):
        (after,) = renders.with_kept(review(before), [new]).changes
        assert after.kept == expected


def test_what_comes_and_goes() -> None:
    """A retained object is forgotten, and one under a former type is the same resource."""
    kept = rendered("core/v1:PersistentVolume", {}, retain_on_delete=True)
    old, new = rendered("b/v1beta1:C", {"a": 1}), rendered("b/v1:C", {"a": 1}, aliases=["kubernetes:b/v1beta1:C"])
    changes = renders.compare([kept, old], [new, rendered("core/v1:Pod", {})], said())
    assert {change.resource.kind: change.op for change in changes} == {
        "PersistentVolume": Op.FORGET,
        "C": Op.SAME,
        "Pod": Op.CREATE,
    }
    assert renders.compare([old], [], said())[0].op is Op.DELETE


def test_urns_are_those_of_the_engine() -> None:
    """URNs are those of the engine."""
    assert rendered("core/v1:Pod", {}).resource.urn == "urn:pulumi:dev::hpc::hpc:a:B$kubernetes:core/v1:Pod::x"


def test_no_secret_gets_in() -> None:
    """Values of Secrets in a render are redacted."""
    found = rendered("core/v1:Secret", {"stringData": {"p": "planted"}, "data": "planted"})
    assert found.resource.inputs == {"stringData": {"p": REDACTED}, "data": REDACTED}


@pytest.mark.parametrize("content", [{}, {"inputs": [], "aliases": 1, "urn": None, "replace_on_changes": "spec"}])
def test_what_a_stranger_writes_does_not_raise(content: dict[str, Any]) -> None:
    """A malformed render does not raise."""
    assert renders.read(content).resource.inputs == {}
