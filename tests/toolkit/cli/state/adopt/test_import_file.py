"""The engine's file: names, parents and provider, so that URNs are the program's own."""

from tests.support.recorded import environment
from toolkit.cli.state.adopt import declared, import_file
from toolkit.cli.state.adopt.candidates import Candidate, State
from toolkit.cli.state.adopt.declared import StateResources

PROGRAM = declared.of(environment("dev"))
ROLE = next(each for each in PROGRAM.objects if (each.kind, each.name) == ("Role", "mpi"))
FOUND = Candidate(ROLE, {}, State.EQUAL)


def test_components_come_before_what_is_in_them() -> None:
    """Components come before the objects in them, and each object has its component as parent."""
    content = import_file.content(PROGRAM, [FOUND], StateResources([]))
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
    content = import_file.content(PROGRAM, [FOUND], known)
    assert [each["logicalName"] for each in content["resources"]] == ["adas-role"]
    assert sorted(content["nameTable"].values()) == sorted(urns)
    assert "providerInputs" not in content


def test_every_name_is_given_once() -> None:
    """Every name in the file is unique, also where a component and an object share a logical name."""
    found = [Candidate(each, {}, State.EQUAL) for each in PROGRAM.objects]
    names = [each["name"] for each in import_file.content(PROGRAM, found, StateResources([]))["resources"]]
    assert len(names) == len(set(names))
