"""Pods by the line."""

import json
from typing import Any

import pytest

from policies.scc.batch import answer, answers
from tests.policies.scc.samples import NAMESPACE, pod, scc

CASE: dict[str, Any] = {
    "id": "a",
    "pod": pod(),
    "namespace": {"name": "adas", "annotations": dict(NAMESPACE.annotations)},
    "user": {"name": "alice", "groups": ["system:authenticated"]},
    "usable": [],
    "sccs": [scc(runAsUser={"type": "MustRunAsRange"})],
}


def line(**changes: object) -> bytes:
    """Return a case as a line, with changes; a field set to ... is left out."""
    return json.dumps({key: value for key, value in {**CASE, **changes}.items() if value is not ...}).encode()


def test_admitted() -> None:
    """An answer has what the SCC fills in."""
    found = answer(line())
    assert list(found) == ["id", "admitted", "scc", "pod", "reasons"]
    assert (found["id"], found["admitted"], found["scc"], found["reasons"]) == ("a", True, "open", [])
    assert found["pod"]["spec"]["containers"][0]["securityContext"]["runAsUser"] == 1000680000


def test_refused() -> None:
    """A refusal names the reasons by SCC, and fills in nothing."""
    found = answer(line(sccs=[scc("a"), scc("b", groups=[])], pod=pod(container={"privileged": True})))
    assert found == {
        "id": "a",
        "admitted": False,
        "scc": None,
        "pod": pod(container={"privileged": True}),
        "reasons": [
            {
                "scc": "a",
                "message": "provider a: .containers[0].privileged: Invalid value: true: "
                "Privileged containers are not allowed",
            },
            {"scc": "b", "message": 'provider "b": Forbidden: not usable by user or serviceaccount'},
        ],
    }


@pytest.mark.parametrize(
    ("text", "name", "error"),
    [
        pytest.param(b"not json", None, "not JSON: ", id="no JSON"),
        pytest.param(b'{"id": 1', None, "not JSON: ", id="half a line"),
        pytest.param(b'{"id": NaN}', None, "not JSON: NaN", id="no number"),
        pytest.param(b"\xff", None, "not JSON: ", id="no UTF-8"),
        pytest.param(b"[" * 100_000, None, "not JSON: ", id="deeper than anything"),
        pytest.param(b"[1]", None, "not an object", id="no object"),
        pytest.param(line(pod=...), "a", "pod: expected an object", id="no pod"),
        pytest.param(line(pod=[]), "a", "pod: expected an object", id="a pod of another kind"),
        pytest.param(line(namespace=...), "a", "namespace: expected an object", id="no namespace"),
        pytest.param(line(user="alice"), "a", "user: expected an object", id="a user of another kind"),
        pytest.param(line(usable="x"), "a", "usable: expected a list", id="no list of SCCs"),
        pytest.param(line(sccs=[1]), "a", "sccs[0]: expected an object", id="an SCC of another kind"),
        pytest.param(line(id=[1], pod={"spec": 1}), [1], "spec: expected an object", id="any id"),
        pytest.param(line(namespace={"annotations": {"x": 1}}), "a", "namespace.annotations[x]", id="annotations"),
    ],
)
def test_broken_lines(text: bytes, name: object, error: str) -> None:
    """A malformed line is answered with an error, and the others are answered."""
    found = answer(text)
    assert list(found) == ["id", "error"]
    assert found["id"] == name
    assert error in found["error"]


def test_lines_keep_their_order() -> None:
    """Answers are numbered by line, and blank lines have none."""
    lines = [line(id=1), b"\n", b"x\n", line(id=2, usable=...), b"  \r\n"]
    assert [found["id"] for found in answers(lines)] == [1, None, 2]
