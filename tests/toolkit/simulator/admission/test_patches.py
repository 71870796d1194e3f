"""JSON patches: applied to what was, they give what is to be."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.support.json_patches import applied
from toolkit.simulator.admission.review import patch

KEYS = st.sampled_from(("a", "b", "openshift.io/scc", "~tilde/slash~1", ""))
TREES = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3) | st.sampled_from(("x", "y")),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)


@given(TREES, TREES)
def test_a_patch_makes_one_tree_of_another(before: Any, after: Any) -> None:
    """A patch turns the one tree into the other."""
    assert applied(before, list(patch(before, after))) == after


def test_only_what_differs_is_patched() -> None:
    """A patch holds only what differs."""
    before = {"spec": {"containers": [{"name": "a", "image": "x"}]}, "metadata": {"annotations": {"a/b": "1"}}}
    after = {
        "spec": {"containers": [{"name": "a", "image": "x", "securityContext": {"runAsUser": 7}}]},
        "metadata": {"annotations": {"a/b": "2"}},
    }
    assert list(patch(before, after)) == [
        {"op": "add", "path": "/spec/containers/0/securityContext", "value": {"runAsUser": 7}},
        {"op": "replace", "path": "/metadata/annotations/a~1b", "value": "2"},
    ]
    assert list(patch(before, before)) == []
