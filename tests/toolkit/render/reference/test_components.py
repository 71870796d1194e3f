"""What is read out of the components' code."""

from toolkit.render.reference import components
from toolkit.render.reference.components import Subject

SUBJECTS = {subject.name: subject for subject in components.subjects()}


def kinds(subject: Subject) -> set[str]:
    """Return `apiVersion/kind` of everything that a component declares."""
    return {f"{version} {kind}" for kind, version in subject.objects}


def test_objects_are_found_through_functions_and_arguments() -> None:
    """Objects are found through helper functions and arguments of releases."""
    assert kinds(SUBJECTS["GpuDevicePlugin"]) == {
        "v1 ServiceAccount",
        "rbac.authorization.k8s.io/v1 Role",
        "rbac.authorization.k8s.io/v1 RoleBinding",
        "apps/v1 DaemonSet",
    }
    assert kinds(SUBJECTS["Memlock"]) == {
        "machineconfiguration.openshift.io/v1 MachineConfig",
        "machineconfiguration.openshift.io/v1 MachineConfigPool (patch)",
    }
    assert {"kubeflow.org/v1alpha2 MPIJob", "kubeflow.org/v2beta1 MPIJob"} <= kinds(SUBJECTS["MpiJob"])
    assert "v1 PersistentVolume" in kinds(SUBJECTS["StaticVolume"])


def test_every_component_declares_something_and_says_what_for() -> None:
    """Every component has objects and a description."""
    for subject in SUBJECTS.values():
        assert subject.objects, subject.name
        assert subject.purpose.endswith((".", ")")), subject.name
        assert subject.about[1], f"{subject.name}: say its outputs after `Outputs:`"


def test_users_of_a_component_are_those_that_make_it() -> None:
    """Users of a component are the modules that create it."""
    assert components.composers()["Tenant"] == ("stacks/layers/tenants.py",)
    assert "GpuOperator" in components.composers()
