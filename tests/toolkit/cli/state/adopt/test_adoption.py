"""The state after an import, as the program would have left it."""

import copy
from typing import Any

from tests.support.recorded import environment
from toolkit.cli.state.adopt import adoption, declared
from toolkit.cli.state.adopt.adoption import completed
from toolkit.cli.state.adopt.candidates import Candidate, State
from toolkit.cli.state.adopt.declared import StateResources

JOB = next(each for each in declared.of(environment("dev")).objects if each.name == "nccl-test-01x08")
INPUTS = {"apiVersion": "kubeflow.org/v1alpha2", "kind": "MPIJob", "metadata": {"name": "nccl-test-01x08"}, "spec": {}}
FOUND = Candidate(JOB, {}, State.EQUAL, written=INPUTS)
COMPONENT = "urn:pulumi:dev::hpc::hpc:workloads:MpiJob::adas-nccl-test-01x08"
PROGRAM = declared.of(environment("dev"))
ROLE = next(each for each in PROGRAM.objects if (each.kind, each.name) == ("Role", "mpi"))
ROLE_FOUND = Candidate(ROLE, {}, State.EQUAL)


def imported() -> dict[str, Any]:
    """Return a state as the engine leaves it."""
    identity = {key: INPUTS[key] for key in ("apiVersion", "kind", "metadata")}
    job = {"urn": JOB.urn, "type": JOB.item.type, "inputs": {"all": 1}, "outputs": {"__inputs": identity, "spec": {}}}
    return {"deployment": {"resources": [{"urn": COMPONENT, "type": "x"}, {**job, "protect": True}]}}


def test_an_import_becomes_the_programs() -> None:
    """An imported object gets the program's options, run number and inputs, and is retained on delete."""
    before = imported()
    after = completed(before, [FOUND], {COMPONENT: {"a": None}})
    component, job = after["deployment"]["resources"]
    assert component["inputs"] == {"a": None}
    assert (job["retainOnDelete"], job["protect"], job["replacementTrigger"]) == (True, False, 1)
    assert job["inputs"] == job["outputs"]["__inputs"] == INPUTS
    assert before == imported()


def test_what_is_complete_stays_as_it_is() -> None:
    """An object that is complete stays as it is in a second run."""
    after = completed(imported(), [FOUND], {COMPONENT: {"a": 1}})
    again = copy.deepcopy(after)
    again["deployment"]["resources"][1]["inputs"] = {"updated": 1}
    assert completed(again, [FOUND], {COMPONENT: {"a": 2}}) == again


def test_what_a_provider_filled_in_is_not_what_the_program_declared() -> None:
    """Inputs are those that the program declared, without defaults that the provider read."""
    document = imported()
    job = document["deployment"]["resources"][1]
    job["outputs"]["__inputs"] = job["inputs"] = {**INPUTS, "spec": {"cleanPodPolicy": "None"}}
    after = completed(document, [FOUND], {})["deployment"]["resources"][1]
    assert after["inputs"] == after["outputs"]["__inputs"] == INPUTS


def test_an_object_of_our_own_that_is_named_later_keeps_its_inputs() -> None:
    """An object of the stack's own that is adopted later keeps its inputs; only its options change."""
    document = imported()
    job = document["deployment"]["resources"][1]
    job["outputs"]["__inputs"] = {**INPUTS, "spec": {"x": 1}}
    job["propertyDependencies"] = {"metadata": [], "spec": []}
    after = completed(document, [FOUND], {})["deployment"]["resources"][1]
    assert after == {**job, "retainOnDelete": True, "protect": False, "replacementTrigger": 1}


def test_the_type_of_a_secret_is_not_what_the_program_declared() -> None:
    """A provider imports `type: Opaque`, which the server has filled in; removing it would replace the Secret."""
    secret = next(each for each in declared.of(environment("dev")).objects if each.kind == "Secret")
    imported_inputs = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}, "data": {"k": {}}}
    resource = {
        "urn": secret.urn,
        "inputs": {**imported_inputs, "type": "Opaque"},
        "outputs": {"__inputs": {**imported_inputs, "type": "Opaque"}},
    }
    found = Candidate(secret, {}, State.EQUAL, written={})
    after = completed({"deployment": {"resources": [resource]}}, [found], {})["deployment"]["resources"][0]
    assert after["inputs"] == after["outputs"]["__inputs"] == imported_inputs


def test_components_come_before_what_is_in_them() -> None:
    """Components come before the objects in them, and each object has its component as parent."""
    content = adoption.import_content(PROGRAM, [ROLE_FOUND], StateResources([]))
    tenant, role = content["resources"]
    assert tenant == {"type": "hpc:tenants:Tenant", "name": "adas", "logicalName": "adas", "component": True}
    assert role["type"] == "kubernetes:rbac.authorization.k8s.io/v1:Role"
    assert (role["logicalName"], role["id"], role["parent"]) == ("adas-role", "adas/mpi", "adas")
    assert content["nameTable"] == {"cluster": "urn:pulumi:dev::hpc::pulumi:providers:kubernetes::cluster"}
    assert content["providerInputs"]["cluster"]["clusterIdentifier"] == "redpaper-lab"


def test_what_the_state_has_is_named_only() -> None:
    """Components and providers of the state are named, and not imported again."""
    provider, _ = PROGRAM.provider
    urns = [provider, *(name for name, _ in PROGRAM.above(ROLE))]
    known = StateResources([{"urn": each, "type": "x:y:z"} for each in urns])
    content = adoption.import_content(PROGRAM, [ROLE_FOUND], known)
    assert [each["logicalName"] for each in content["resources"]] == ["adas-role"]
    assert sorted(content["nameTable"].values()) == sorted(urns)
    assert "providerInputs" not in content


def test_every_name_is_given_once() -> None:
    """Every name in the file is unique, also where a component and an object share a logical name."""
    found = [Candidate(each, {}, State.EQUAL) for each in PROGRAM.objects]
    names = [each["name"] for each in adoption.import_content(PROGRAM, found, StateResources([]))["resources"]]
    assert len(names) == len(set(names))
