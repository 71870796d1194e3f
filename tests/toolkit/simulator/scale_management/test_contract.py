"""The simulated GUI of Storage Scale against the table of REST calls."""

from pathlib import Path
from typing import Any

from tests.support import scale_api
from tests.support.scale_api import Caller
from toolkit.simulator.scale_management.routes import CALLS, CHANGES
from toolkit.simulator.scale_management.state import file_system_uid


def test_every_call_of_the_table_in_its_order(tmp_path: Path) -> None:
    """Statuses, shapes, outcomes of jobs and texts of refusals are those of the table."""
    caller = Caller(tmp_path / "state.json")
    wrong = [fault for call in scale_api.calls() for fault in made(caller, call)]
    assert wrong == []


def made(caller: Caller, call: dict[str, Any]) -> list[str]:
    """Return how the answer of a call differs from the table."""
    query = {key: value.replace("UID", file_system_uid("fs1")) for key, value in call.get("query", {}).items()}
    answer = caller.send(call["method"], call["path"], call.get("sent"), **query)
    content = answer.json
    assert content is not None
    name = call["name"]
    if "refused" in call:
        code, text = call["refused"]["code"], call["refused"]["text"]
        right = answer.status_code == content["status"]["code"] == code and text in content["status"]["message"]
        return [] if right else [f"{name}: {content}"]
    if "answer" in call:
        filled = all(content[key] for key in call["answer"])
        empty = [] if filled else [f"{name}: nothing is listed"]
        return [
            *empty,
            *([] if answer.status_code == 200 else [name]),
            *scale_api.faults(content, call["answer"], name),
        ]
    if answer.status_code != 202 or content["status"]["code"] != 202:
        return [f"{name}: {content}"]
    finished = caller.get(f"jobs/{content['jobs'][0]['jobId']}", fields=":all:")["jobs"][0]
    while finished["status"] == "RUNNING":
        finished = caller.get(f"jobs/{finished['jobId']}", fields=":all:")["jobs"][0]
    outcome = call["job"]
    stderr = " ".join(finished["result"]["stderr"])
    right = finished["status"] == "COMPLETED" if outcome == "COMPLETED" else stderr.startswith(f"{outcome} ")
    return [
        *([] if right else [f"{name}: {finished}"]),
        *scale_api.faults(finished, scale_api.table()["outcome"], name),
    ]


def test_bodies_are_those_of_the_table() -> None:
    """A call takes the keys that the table lists, needs those that are not optional, and nothing that it lacks."""
    bodies = {
        (call["method"], scale_api.template(call["path"])): call["body"] for call in scale_api.calls() if "body" in call
    }
    for (method, path), change in CHANGES.items():
        listed = bodies.pop((method, shape_of(path)), {})
        needed = {key for key in listed if not key.endswith("~")}
        optional = {key.removesuffix("~") for key in listed} - needed
        tuning = {key for key in optional if key.startswith("afm")}
        assert (needed, optional - tuning, bool(tuning)) == ({*change.needs}, {*change.takes}, change.tuning), path
    assert not bodies


def test_every_simulated_call_is_in_the_table() -> None:
    """No call is simulated that the table does not have."""
    listed = {(call["method"], scale_api.template(call["path"])) for call in scale_api.calls()}
    assert {(method, shape_of(path)) for method, path in CALLS} == listed


def shape_of(path: str) -> str:
    """Return a path of the routes as a template of the table."""
    return "/".join("{}" if "<" in part else part for part in path.strip("/").split("/"))
