"""JSON patches: applied to what was, they give what is to be."""

import copy
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from simulator.admission.patches import patch

KEYS = st.sampled_from(("a", "b", "openshift.io/scc", "~tilde/slash~1", ""))
TREES = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3) | st.sampled_from(("x", "y")),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)


def applied(tree: Any, operations: list[dict[str, Any]]) -> Any:
    """Apply operations as RFC 6902 says, as far as they occur here."""
    box = {"": copy.deepcopy(tree)}
    for operation in operations:
        *path, last = [key.replace("~1", "/").replace("~0", "~") for key in operation["path"].split("/")]
        target: Any = box
        for key in path:
            target = target[int(key) if isinstance(target, list) else key]
        if operation["op"] == "remove":
            del target[last]
        else:
            assert operation["op"] == "add" or isinstance(target, list) or last in target
            target[int(last) if isinstance(target, list) else last] = copy.deepcopy(operation["value"])
    return box[""]


@given(TREES, TREES)
def test_a_patch_makes_one_tree_of_another(before: Any, after: Any) -> None:
    """Prevents a pod that the API server fills in otherwise than the SCC demands, or a patch that it cannot apply."""
    assert applied(before, list(patch(before, after))) == after


def test_only_what_differs_is_patched() -> None:
    """Prevents a patch that takes back what the API server has defaulted meanwhile."""
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
