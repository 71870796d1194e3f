"""`./hpc nodes`: verdicts of nodes, the next test, and the label of nodes that are not fit."""

import json
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml
from werkzeug.wrappers import Request, Response

from core.apis import names
from core.apis.client import MERGE_PATCH
from tests.support.commands import finished
from tests.support.http_server import as_json, kubeconfig, serving
from tests.support.messages import has
from toolkit.cli.nodes import command, node_marks
from toolkit.cli.shared import session
from toolkit.cli.shared import stack as stacks
from toolkit.cli.shared.cluster_client import Cluster
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.stack import Stack
from toolkit.cli.verify.expectations import requests
from toolkit.evidence.fitness import Fitness, Fitnesses, NodeVerdict
from toolkit.evidence.reader import read
from toolkit.evidence.verdict import Ended, Job

LOGS = Path(__file__).parents[2] / "evidence" / "logs" / "preflight"
STACK = "h100-roce"
NODE = "dgx0{}.h100.example.com"
_run = partial(finished, command.command)


def verdict(node: str, fitness: Fitness, reason: str | None = None) -> NodeVerdict:
    """Return a verdict on a node."""
    return NodeVerdict(node=node, fitness=fitness, reason=reason, why="")


def node(name: str, **labels: str) -> dict[str, Any]:
    """Return a node of the API."""
    return {"metadata": {"name": name, "labels": labels}}


def test_logs_are_judged_by_the_node_that_they_name() -> None:
    """With files each log is the test of a node; a fault is shown with its line, and the status is 1."""
    options = ("--machine", "dgx-h100", "--gpus", "2")
    status, output = _run(str(LOGS / "busy-gpu.txt"), *options)
    assert status == 1
    assert has(" ".join(output.split()), "gpu01", "unfit", "GPU 1 has 1011 MiB in use by others", "busy-gpu.txt:6")
    assert _run(str(LOGS / "healthy.txt"), *options)[0] == 0
    status, output = _run(str(LOGS / "small-shm.txt"), *options, "--json")
    (found,) = json.loads(output)["nodes"]
    assert (status, found["node"], found["fitness"], found["reason"]) == (1, "gpu01", "unfit", "preflight-gpus")


def test_a_log_of_another_program_is_refused(tmp_path: Path) -> None:
    """A log without the test of a node has nothing to judge."""
    log = tmp_path / "job.log"
    log.write_text("hello\n")
    with pytest.raises(Problem, match=r"job.log is not a log of the program preflight"):
        _run(str(log))


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (("--yes",), r"--yes answers --cordon"),
        (("--cordon", "some.log"), r"--cordon is for the nodes of a stack"),
        (("--wait", "3", "some.log"), r"--wait is for the nodes of a stack"),
        (("--gpus", "2"), r"--gpus is for logs in files"),
        (("--stack", "dev"), r"stack dev has no test of a node\nAdd a stage[\s\S]*program: preflight"),
    ],
)
def test_options_that_do_not_fit_are_refused(options: Sequence[str], error: str) -> None:
    """What is not about the nodes of a stack is refused, and a stack without a test of nodes gets the stage."""
    with pytest.raises(Problem, match=error):
        _run(*options)


def test_labels_follow_the_verdicts() -> None:
    """Unfit nodes get the label with their reason, fit ones lose it; nodes that are not known keep what they have."""
    there = [node("a"), node("b", **{names.UNFIT: "old"}), node("c", **{names.UNFIT: "x"}), node("d"), node("e")]
    found = [
        verdict("a", Fitness.UNFIT, "clock-capped"),
        verdict("b", Fitness.FIT),
        verdict("c", Fitness.UNKNOWN),
        verdict("d", Fitness.SUSPECT),
        verdict("e", Fitness.FIT),
        verdict("gone", Fitness.UNFIT, "x"),
    ]
    marks = node_marks.changes(found, there)
    assert marks == {"a": "clock-capped", "b": None}
    assert node_marks.sentence(marks) == "mark a (clock-capped) as unfit and unmark b"
    assert node_marks.changes([verdict("a", Fitness.UNFIT, "x")], [node("a", **{names.UNFIT: "x"})]) == {}


class Api:
    """An API server with nodes, which takes changes of them; `sent` has path, type and body of each."""

    def __init__(self, *nodes: dict[str, Any]) -> None:
        self.nodes = nodes
        self.status = 200
        self.sent: list[tuple[str, str | None, Any]] = []

    def respond(self, request: Request) -> Response:
        """Answer a request."""
        if request.method == "GET":
            return as_json({"items": self.nodes})
        self.sent.append((request.path, request.content_type, request.get_json(force=True)))
        return as_json({"kind": "Status", "message": "nodes is forbidden"}, self.status)


@pytest.fixture
def stack(monkeypatch: pytest.MonkeyPatch) -> Stack:
    """Give a stack whose tests of nodes have ended: of the first node a GPU is busy, the last one was not tested."""
    found = stacks.read(STACK)

    def gather(_stack: Stack, only: Sequence[str], **_options: object) -> list[Job]:
        logs = {NODE.format(number): "busy-gpu" if number == 1 else "healthy" for number in range(1, 4)}
        return [
            Job(
                # The logs are of a host with two GPUs and no adapters.
                request=one.model_copy(update={"shape": one.shape.model_copy(update={"gpus": 2}), "devices": ()}),
                ended=Ended.SUCCEEDED,
                readings=read(LOGS / f"{logs[one.nodes[0]]}.txt"),
            )
            for one in requests(found.settings, {})
            if one.job in only and one.shape and one.prints == ("preflight",) and one.nodes[0] in logs
        ]

    monkeypatch.setattr(command, "gather", gather)
    return found


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Api]:
    """Give what is sent to an API server with the stack's nodes, the second of which has a label of old."""
    api = Api(node(NODE.format(1)), node(NODE.format(2), **{names.UNFIT: "old"}), node(NODE.format(3)))
    with serving(api.respond) as port:
        monkeypatch.setattr(session, "cluster", lambda _stack: Cluster(kubeconfig(tmp_path, port), "lab"))
        yield api


@pytest.mark.usefixtures("stack")
def test_nodes_of_a_stack_are_marked_after_a_question(sent: Api) -> None:
    """The label goes to the unfit node and from the fit one, by a merge patch of this label alone."""
    status, output = _run("--stack", STACK, "--cordon", "--yes")
    assert status == 1
    flat = " ".join(output.split())
    assert has(flat, NODE.format(1), "unfit", NODE.format(4), "unknown", "it was not tested")
    assert f"done: mark {NODE.format(1)} (preflight-gpu-faults) as unfit and unmark {NODE.format(2)}" in flat
    assert "fit_nodes" not in output
    patches = [(f"/api/v1/nodes/{NODE.format(number)}", MERGE_PATCH) for number in (1, 2)]
    assert [one[:2] for one in sent.sent] == patches
    assert [one[2]["metadata"]["labels"] for one in sent.sent] == [
        {names.UNFIT: "preflight-gpu-faults"},
        {names.UNFIT: None},
    ]


@pytest.mark.usefixtures("stack")
def test_without_an_answer_nothing_is_marked(sent: Api) -> None:
    """Without a terminal and --yes nothing is sent."""
    with pytest.raises(Problem, match=r"no terminal to confirm on: Mark dgx01[\s\S]*Add --yes"):
        _run("--stack", STACK, "--cordon")
    assert sent.sent == []


@pytest.mark.usefixtures("stack")
def test_a_label_that_is_refused_has_the_command(sent: Api) -> None:
    """A user who may not patch nodes gets the command for one who may."""
    sent.status = 403
    with pytest.raises(Problem, match=r"dgx01\S+ is not labelled: nodes is forbidden[\s\S]*oc label node dgx01\S+ hpc"):
        _run("--stack", STACK, "--cordon", "--yes")


def test_the_next_test_of_a_pair_is_a_workload() -> None:
    """Two nodes to test next are an RDMA test of the stack, more are named."""
    settings = stacks.read(STACK).settings
    found = Fitnesses(nodes=(), next=(NODE.format(1), NODE.format(3)))
    (workload,) = yaml.safe_load(command.next_test(found, settings).partition("\n")[2])
    assert workload == {
        "kind": "rdma-test",
        "name": "pair-test",
        "tenant": "training",
        "client_node": NODE.format(1),
        "server_node": NODE.format(3),
        "hca": "mlx5_0",
    }
    half = found.model_copy(update={"next": ("a", "b", "c")})
    assert command.next_test(half, settings).endswith("together next: a, b, c")
