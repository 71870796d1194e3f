"""Fields that do not fit, and the grammars of names."""

from collections.abc import Callable
from datetime import UTC, date, datetime
from typing import Any

import pytest

from core.apis.fields import root
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.rules.apis.known_fields import KNOWN_FIELDS
from policies.views import grammars
from policies.views.fields import Walk
from policies.views.placement import explain


def _pod(**container: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Pod", "spec": {"containers": [{"name": "a", **container}]}}


def _explained(tree: dict[str, Any]) -> list[str]:
    return [explain(misfit) for misfit in Walk(tree, root("", "Pod"), 10).misfits]


@pytest.mark.parametrize(
    ("tree", "said"),
    [
        (_pod(runAsUser=1), "it belongs to spec.containers[0].securityContext"),
        (_pod(nodeSelector={}), "it belongs to spec"),
        (_pod(medium="Memory"), "it belongs to spec.volumes[].emptyDir"),
        (_pod(resources={"env": []}), "it belongs to spec.containers[0]"),
        (_pod(annotations={}), "it belongs to metadata"),
        (_pod(imagepullpolicy="Always"), "did you mean imagePullPolicy?"),
        (_pod(securityContext={"capabilites": {}}), "did you mean capabilities?"),
        ({"kind": "Pod", "containers": []}, "it belongs to spec"),
        ({"kind": "Pod", "metadata": {"team": "a"}}, "a label was meant?"),
    ],
)
def test_where_a_field_belongs(tree: dict[str, Any], said: str) -> None:
    """A misplaced field is reported with the place where it belongs."""
    (message,) = _explained(tree)
    assert message.endswith(f"; {said}")


def test_nothing_is_guessed_for_a_name_of_many_levels() -> None:
    """A field that fits in many places gets no hint."""
    assert _explained(_pod(path="/a")) == ["path is not a field of Container"]


def test_an_unquoted_date_is_a_text() -> None:
    """A date is accepted where the API takes text."""
    annotations = {"created": datetime(2020, 2, 28, tzinfo=UTC), "day": date(2020, 2, 28)}
    assert _explained({"kind": "Pod", "metadata": {"annotations": annotations}}) == []


def test_keys_that_are_no_texts() -> None:
    """Keys that are not text are reported."""
    assert [each.path[-1] for each in Walk(_pod() | {1: 2, None: 3}, root("", "Pod"), 10).misfits] == [1, "None"]


def test_no_more_than_wanted() -> None:
    """Many wrong fields cost bounded time."""
    subject = Obj(_pod(**{f"wrong{number}": 1 for number in range(100_000)}))
    violations = list(KNOWN_FIELDS.examine(subject, Inventory([subject]), KNOWN_FIELDS.parameters()))
    assert len(violations) == 21
    assert violations[-1].message == "further fields do not fit and are not listed"


def test_depth_is_the_apis() -> None:
    """A manifest deeper than Python's stack does not raise."""
    deep: Any = {}
    for _ in range(100_000):
        deep = {"env": [deep]}
    assert _explained({"kind": "Pod", "spec": {"containers": [deep]}}) == [
        "env is not a field of EnvVar; it belongs to spec.containers[0]"
    ]


@pytest.mark.parametrize(
    ("fits", "good", "bad"),
    [
        (grammars.is_label, ("a", "a-1", "1a", "a" * 63), ("", "-a", "a-", "A", "a_b", "a.b", "a" * 64, "a\n", "é")),
        (grammars.is_subdomain, ("a.b", "a", f"{'a' * 126}.{'b' * 126}"), ("", "a..b", ".a", "a.", "a" * 254, "a/b")),
        (grammars.is_segment, ("system:a", "A_b"), (".", "..", "a/b", "a%b")),
        (
            grammars.is_qualified,
            ("a", "A.b_c-d", "x.io/a", "nvidia.com/gpu"),
            ("", "/a", "x.io/", "a/b/c", "X.io/a", "-a"),
        ),
        (grammars.is_label_value, ("", "a", "True", "a.b_c"), ("-a", "a b", "a" * 64, "a/b")),
        (grammars.is_port, ("a", "8-a", "http"), ("", "8", "a--b", "-a", "a" * 16, "A")),
    ],
)
def test_grammar(fits: Callable[[str], bool], good: tuple[str, ...], bad: tuple[str, ...]) -> None:
    """Names are valid exactly when the API server accepts them."""
    assert [name for name in good if not fits(name)] == []
    assert [name for name in bad if fits(name)] == []


@pytest.mark.parametrize("name", ["a-" * 100_000, "a." * 100_000, "0" * 100_000 + "/" + "a" * 100_000, "9" * 100_000])
def test_long_names_are_quick(name: str) -> None:
    """Long names are checked in bounded time."""
    for fits in (
        grammars.is_label,
        grammars.is_subdomain,
        grammars.is_qualified,
        grammars.is_label_value,
        grammars.is_port,
    ):
        assert not fits(name)
