"""Example `pytorch`: its PyTorch program as a TrainJob and as an Indexed Job, under the real controllers.

The tests build on each other in the order of the file.
"""

from collections.abc import Iterator

import pytest
import yaml

from core.apis import kinds
from core.apis.kinds import Kind
from tests.support.clusters import FULL, require_tools
from tests.support.lab import Lab, checkout
from toolkit.simulator.actors.api import Api, Server
from toolkit.simulator.pods import condition

pytestmark = pytest.mark.cluster

STACK, JOB, TENANT = "pytorch", "train-torch-02x08", "training"


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """Give a checkout with the stack up."""
    require_tools(FULL)
    with checkout(tmp_path_factory.mktemp("pytorch")) as made:
        made.works("up", "-s", STACK)
        yield made
        made.hpc("sim", "clean", "--name", STACK)


def _complete(lab: Lab, kind: Kind) -> bool:
    server = Server(lab.root / ".sim" / STACK / "kubeconfig")
    return condition(Api(server, lambda: server.token, "the test").get(kind, JOB, TENANT), "Complete")


def _verified(lab: Lab) -> None:
    """Check that both jobs are judged by their transport, and not by figures that no program printed."""
    printed = lab.works("verify", "-s", STACK, "--wait", "300", "--all")
    rows = [" ".join(line.split()) for line in printed.splitlines()]
    for judged in ("transport-between-nodes pass channels by NET/IB", "metrics-printed warn not judged: simulated"):
        assert sum(row.startswith(judged) for row in rows) == 2, printed


def test_the_program_completes_as_a_train_job(lab: Lab) -> None:
    """Trainer, JobSet and the Job controller bring it to its end; its transport is judged, its metrics are not."""
    assert _complete(lab, kinds.TRAIN_JOB)
    _verified(lab)


def test_the_same_workload_is_an_indexed_job_without_trainer(lab: Lab) -> None:
    """One setting moves it, the review says what that means, and the Job runs the same program to its end."""
    file = lab.root / "stacks" / "examples" / f"{STACK}.yaml"
    content = yaml.safe_load(file.read_text())
    content["config"]["hpc:platform"]["trainer"] = "none"
    file.write_text(yaml.safe_dump(content))
    review = lab.works("diff", "-s", STACK)
    assert f"TrainJob {TENANT}/{JOB} is deleted" in review
    assert f"Job {TENANT}/{JOB} starts, with 16 GPUs" in review
    lab.works("up", "-s", STACK)
    assert _complete(lab, kinds.JOB)
    _verified(lab)
    assert "Succeeded" in lab.works("status", "-s", STACK)
    lab.works("pulumi", "preview", "-s", STACK, "--expect-no-changes")
