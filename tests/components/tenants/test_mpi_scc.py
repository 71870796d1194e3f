"""The SCC that lets tenants lock memory."""

import pytest

from components.tenants.mpi_scc import Base, MpiScc, MpiSccArgs, constraints
from policies.scc import default_sccs
from policies.views.constraints import differing_fields
from tests.conformance.schema import expect_conformity
from tests.support.declared import declared, faults, only
from tests.support.published_sccs import published
from tests.support.recorded import environment, only_object

BASES: tuple[Base, ...] = ("restricted", "restricted-v2")


def test_recorded_scc_allows_ipc_lock_without_adding_it() -> None:
    """The SCC allows IPC_LOCK, and adds it to no pod."""
    scc = only_object(environment("dev"), "SecurityContextConstraints").inputs
    assert scc["allowedCapabilities"] == ["IPC_LOCK"]
    assert scc["defaultAddCapabilities"] == []
    assert scc["allowPrivilegedContainer"] is False


@pytest.mark.parametrize("base", BASES)
def test_no_group_and_no_user_may_use_it_directly(base: Base) -> None:
    """The SCC names no user and no group."""
    assert constraints(base)["groups"] == []
    assert constraints(base)["users"] == []


def test_today_it_is_restricted_v2_and_ipc_lock() -> None:
    """On 4.20 the SCC is restricted-v2 with IPC_LOCK."""
    (theirs,) = (scc for scc in default_sccs("current") if scc["metadata"]["name"] == "restricted-v2")
    ours = constraints("restricted-v2")
    assert differing_fields(ours, theirs) == ("allowedCapabilities",)
    assert set(ours["allowedCapabilities"]) == {*theirs["allowedCapabilities"], "IPC_LOCK"}
    assert ours["requiredDropCapabilities"] == ["ALL"]
    assert ours["seccompProfiles"] == ["runtime/default"]
    assert ours["allowPrivilegeEscalation"] is False


@pytest.mark.parametrize("base", BASES)
def test_it_has_the_shape_of_its_definition_and_passes_our_rules(base: Base) -> None:
    """The SCC matches its definition, and the policies have no finding."""
    found = declared(lambda: MpiScc("mpi-scc", MpiSccArgs(base=base)))
    expect_conformity(only(found, "SecurityContextConstraints"))
    assert faults(found) == []


def test_required_keys_survive_pulumi() -> None:
    """Required keys have values that Pulumi does not drop."""
    required = {
        "allowHostDirVolumePlugin",
        "allowHostIPC",
        "allowHostNetwork",
        "allowHostPID",
        "allowHostPorts",
        "allowPrivilegedContainer",
        "allowedCapabilities",
        "defaultAddCapabilities",
        "priority",
        "readOnlyRootFilesystem",
        "requiredDropCapabilities",
        "volumes",
    }
    scc = only_object(environment("dev"), "SecurityContextConstraints").inputs
    assert required <= scc.keys()
    assert None not in scc.values()


def test_differs_from_restricted_by_ipc_lock_alone() -> None:
    """On 4.4 the SCC is restricted with IPC_LOCK."""
    (theirs,) = (scc for scc in published("4.4") if scc["metadata"]["name"] == "restricted")
    ours = constraints("restricted")
    differing = {key for key in ours if (ours[key] or None) != (theirs.get(key) or None)}
    assert differing == {"allowedCapabilities", "groups"}, differing
