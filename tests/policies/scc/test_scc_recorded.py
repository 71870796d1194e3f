"""Our prediction against verdicts of OpenShift's own code; `recorded/README.md` says how they were recorded."""

import json
from pathlib import Path
from typing import Any

import pytest

from policies.scc import InvalidPod, Namespace, User, Verdict, admit
from tests.policies.scc.samples import NAMESPACE

CASES = (Path(__file__).parent / "recorded" / "admission.jsonl").read_text().splitlines()
LISTS = ("containers", "initContainers", "ephemeralContainers")


def _judge(case: dict[str, Any]) -> Verdict:
    namespace = Namespace("adas", case.get("annotations", NAMESPACE.annotations))
    user = User(case["user"]["name"], tuple(case["user"]["groups"]))
    return admit(case["pod"], namespace, user, case["sccs"], case["usable"])


def _filled(pod: Any) -> dict[str, Any]:
    """Return what the recording keeps of an admitted pod."""
    spec = {key: value for key, value in pod["spec"].items() if key in ("serviceAccountName", "securityContext")}
    for group in LISTS:
        if group in pod["spec"]:
            spec[group] = [
                {key: value for key, value in entry.items() if key in ("name", "securityContext")}
                for entry in pod["spec"][group]
            ]
    return {"annotations": pod["metadata"].get("annotations", {}), "spec": spec}


def _encoded(tree: Any) -> Any:
    """Return a tree as Go writes it: without empty texts and lists."""
    if isinstance(tree, dict):
        pairs = ((key, _encoded(value)) for key, value in tree.items())
        return {key: value for key, value in pairs if value not in ("", [])}
    return [*map(_encoded, tree)] if isinstance(tree, list) else tree


@pytest.mark.parametrize("line", CASES, ids=range(1, len(CASES) + 1))
def test_recorded(line: str) -> None:
    """Verdict, SCC, message and what is filled in are those of the cluster's own code."""
    case = json.loads(line)
    if "error" in case:
        with pytest.raises(InvalidPod):
            _judge(case)
        return
    verdict = _judge(case)
    assert (verdict.scc, verdict.message) == (case.get("scc") or None, case.get("message", ""))
    if verdict.admitted:
        assert _encoded(_filled(verdict.pod)) == _encoded(case["filled"])
