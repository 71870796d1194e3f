"""What two renders of a stack differ in."""

from typing import Any

import pytest

from review import renders
from review.model import REDACTED, Op
from review.renders import Rendered

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
    """Prevents a replacement that costs a job its results, and is told as an update."""
    old, new = rendered("b/v1:C", {"spec": 1}, **before), rendered("b/v1:C", {"spec": 2}, **after)
    (change,) = renders.compare([old], [new], said(spec=bool(paths)))
    assert (change.op, change.replaced_for) == (op, forcing)


def test_what_comes_and_goes() -> None:
    """Prevents an object that stays on the cluster from being told as deleted, and one of a new version as two."""
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
    """Prevents two ways to name one resource in the comments of one pull request."""
    assert rendered("core/v1:Pod", {}).resource.urn == "urn:pulumi:dev::hpc::hpc:a:B$kubernetes:core/v1:Pod::x"


def test_no_secret_gets_in() -> None:
    """Prevents a commit's own program from putting a Secret into a comment."""
    found = rendered("core/v1:Secret", {"stringData": {"p": "planted"}, "data": "planted"})
    assert found.resource.inputs == {"stringData": {"p": REDACTED}, "data": REDACTED}


@pytest.mark.parametrize("content", [{}, {"inputs": [], "aliases": 1, "urn": None, "replace_on_changes": "spec"}])
def test_what_a_stranger_writes_does_not_raise(content: dict[str, Any]) -> None:
    """Prevents a hostile render that ends the comparison without a comment."""
    assert renders.read(content).resource.inputs == {}
