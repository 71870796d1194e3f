"""Pods by the line: JSON in, JSON out, for audits of a whole cluster."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from policies.scc.admission import admit
from policies.scc.reading import InvalidPod, Object, labels, mapping, objects, text, texts
from policies.scc.subjects import Namespace, User


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


_decode = json.JSONDecoder(parse_constant=_no_number).decode


def answers(lines: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    """Yield the answer to each line that is not blank, in order."""
    return (answer(line) for line in lines if not line.isspace())


def answer(line: bytes) -> dict[str, Any]:
    """Judge one line: `{id, pod, namespace: {name, annotations}, user: {name, groups}, usable: [...], sccs: [...]}`.

    Returns `{id, admitted, scc, pod, reasons: [{scc, message}]}`, or `{id, error}` for a line that cannot be read;
    `id` is null when not even that can be.
    """
    try:
        case = _decode(line.decode())
    except (ValueError, RecursionError) as error:
        return {"id": None, "error": f"not JSON: {error}"}
    if not isinstance(case, dict):
        return {"id": None, "error": "not an object"}
    try:
        return {"id": case.get("id"), **_judged(case)}
    except (InvalidPod, RecursionError) as error:
        return {"id": case.get("id"), "error": str(error)}


def _judged(case: Object) -> dict[str, Any]:
    pod, place, asker = (_present(case, key) for key in ("pod", "namespace", "user"))
    name = text(place, "name", "namespace.")
    namespace = Namespace(name, labels(place, "annotations", "namespace.") or {})
    user = User(text(asker, "name", "user."), texts(asker, "groups", "user."))
    verdict = admit(pod, namespace, user, objects(case, "sccs", ""), texts(case, "usable", ""))
    return {
        "admitted": verdict.admitted,
        "scc": verdict.scc,
        "pod": verdict.pod,
        "reasons": [{"scc": reason.scc, "message": reason.message} for reason in verdict.reasons],
    }


def _present(case: Object, key: str) -> Object:
    content = mapping(case, key, "")
    if content is None:
        raise InvalidPod(key, "an object", None)
    return content
