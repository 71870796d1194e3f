"""The state after an import, as the program would have left it."""

import copy
from typing import Any

from cli.adopting import checkpoint, declared
from cli.adopting.candidates import Candidate, State
from tests.support.recorded import environment

JOB = next(each for each in declared.of(environment("dev")).objects if each.name == "nccl-test-01x08")
INPUTS = {"apiVersion": "kubeflow.org/v1alpha2", "kind": "MPIJob", "metadata": {"name": "nccl-test-01x08"}, "spec": {}}
FOUND = Candidate(JOB, {}, State.EQUAL, written=INPUTS)
COMPONENT = "urn:pulumi:dev::hpc::hpc:workloads:MpiJob::adas-nccl-test-01x08"


def imported() -> dict[str, Any]:
    """Return a state as the engine leaves it."""
    identity = {key: INPUTS[key] for key in ("apiVersion", "kind", "metadata")}
    job = {"urn": JOB.urn, "type": JOB.item.type, "inputs": {"all": 1}, "outputs": {"__inputs": identity, "spec": {}}}
    return {"deployment": {"resources": [{"urn": COMPONENT, "type": "x"}, {**job, "protect": True}]}}


def test_an_import_becomes_the_programs() -> None:
    """Prevents a job that is made anew for want of a run number, and an object that the next destroy deletes."""
    before = imported()
    after = checkpoint.completed(before, [FOUND], {COMPONENT: {"a": None}})
    component, job = after["deployment"]["resources"]
    assert component["inputs"] == {"a": None}
    assert (job["retainOnDelete"], job["protect"], job["replacementTrigger"]) == (True, False, 1)
    assert job["inputs"] == job["outputs"]["__inputs"] == INPUTS
    assert before == imported()


def test_what_is_complete_stays_as_it_is() -> None:
    """Prevents that a second run forgets what an update has written since."""
    after = checkpoint.completed(imported(), [FOUND], {COMPONENT: {"a": 1}})
    again = copy.deepcopy(after)
    again["deployment"]["resources"][1]["inputs"] = {"updated": 1}
    assert checkpoint.completed(again, [FOUND], {COMPONENT: {"a": 2}}) == again


def test_an_object_of_our_own_that_is_named_later_keeps_its_inputs() -> None:
    """Prevents that a line in the settings changes more than that the object is kept."""
    document = imported()
    job = document["deployment"]["resources"][1]
    job["outputs"]["__inputs"] = {**INPUTS, "spec": {"x": 1}}
    after = checkpoint.completed(document, [FOUND], {})["deployment"]["resources"][1]
    assert after == {**job, "retainOnDelete": True, "protect": False, "replacementTrigger": 1}
