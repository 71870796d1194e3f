"""Layers of an environment on one cluster, by what their states say."""

from collections.abc import Callable
from pathlib import Path

import pytest

from cli import layers, settings_copy, splitting, state
from cli.errors import Problem
from cli.policy_configuration import settled
from cli.stack import Stack, read
from policies.configuration import BESIDE, WHOLE_STACK
from stacks import settings as stack_settings
from stacks.settings import SettingsError
from tests.support.recorded import environment
from tests.support.states import write_state

PLATFORM, TENANTS = "two-layers", "two-layers-tenants"
SOMETHING = [{"urn": "urn:pulumi:s::hpc::kubernetes:core/v1:Namespace::a", "type": "kubernetes:core/v1:Namespace"}]


@pytest.fixture
def stacks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[str], Stack]:
    """Give what reads stacks on a simulated cluster in a folder of the test's own."""
    monkeypatch.setenv("HPC_SIM_HOME", str(tmp_path / "sim"))
    return lambda name: read(name, "lab")


def test_layers_share_a_cluster_and_others_do_not(stacks: Callable[[str], Stack]) -> None:
    """Prevents tenants that are refused on the cluster of their platform, and a lab that takes it from both."""
    platform, tenants, dev = (stacks(name) for name in (PLATFORM, TENANTS, "dev"))
    for name in (PLATFORM, TENANTS):
        write_state(dev, name, SOMETHING)
    state.require_own_cluster(platform)
    state.require_own_cluster(tenants)
    with pytest.raises(Problem, match=r"lab has stack two-layers"):
        state.require_own_cluster(dev)
    assert layers.together(dev) == {"dev"}
    assert platform.backend == tenants.backend


def test_tenants_need_their_platform(stacks: Callable[[str], Stack]) -> None:
    """Prevents an update of tenants on an empty cluster, and a message of the engine's about an unknown stack."""
    tenants = stacks(TENANTS)
    with pytest.raises(
        Problem, match=r"two-layers, the platform .* not up on cluster lab[\s\S]*up --stack two-layers "
    ):
        layers.require_platform(tenants)
    write_state(tenants, PLATFORM, SOMETHING)
    layers.require_platform(tenants)
    layers.require_platform(stacks("dev"))


def test_a_platform_stays_while_tenants_are_on_it(stacks: Callable[[str], Stack]) -> None:
    """Prevents operators that go before what only they can clean up."""
    platform = stacks(PLATFORM)
    layers.require_no_tenants(platform)
    write_state(platform, TENANTS, SOMETHING)
    with pytest.raises(Problem, match=r"platform of stack two-layers-tenants[\s\S]*down --stack two-layers-tenants"):
        layers.require_no_tenants(platform)
    layers.require_no_tenants(stacks(TENANTS))


def test_tenants_are_moved_before_the_platform_is_updated_alone(stacks: Callable[[str], Stack]) -> None:
    """Prevents `layer: platform` in a file from deleting all tenants with their volumes."""
    platform = stacks(PLATFORM)
    urn = "urn:pulumi:two-layers::hpc::hpc:tenants:Tenant::adas"
    write_state(platform, PLATFORM, [{"urn": urn, "type": "hpc:tenants:Tenant"}])
    with pytest.raises(
        Problem, match=r"has tenants \(adas\)[\s\S]*`\./hpc split --stack two-layers-tenants --name lab`"
    ):
        layers.require_split(platform)
    layers.require_split(stacks(TENANTS))
    write_state(platform, PLATFORM, SOMETHING)
    layers.require_split(platform)


def test_a_platform_that_leaves_its_tenants_behind_is_told(
    stacks: Callable[[str], Stack], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Prevents a node or a class from going while a team's file still names it, with nobody told before the update."""
    platform = stacks(PLATFORM)
    layers.tell_refused(platform)
    assert not capsys.readouterr().err

    def refuse(*_: object) -> None:
        raise SettingsError("Pulumi.x.yaml: 1 wrong")

    monkeypatch.setattr(stack_settings, "load", refuse)
    layers.tell_refused(platform)
    said = capsys.readouterr().err
    assert "warning: stack two-layers-tenants is refused with this file" in said
    assert "Pulumi.x.yaml: 1 wrong" in said


def test_what_both_layers_declare_is_not_moved() -> None:
    """Prevents the platform's flavor from going with the tenants' queues: the engine takes children along."""
    stem = "urn:pulumi:two-layers::hpc::"
    tenants = ["hpc:tenants:Tenant::adas", "hpc:tenants:Tenant$kubernetes:core/v1:Namespace::adas-namespace"]
    queues = ["hpc:tenants:Queues$kubernetes:kueue.x-k8s.io/v1beta2:ClusterQueue::queues-adas-cluster-queue"]
    stay = [
        "pulumi:pulumi:Stack::hpc-two-layers",
        "pulumi:providers:kubernetes::cluster",
        "hpc:tenants:Queues::queues",
        "hpc:tenants:Queues$kubernetes:kueue.x-k8s.io/v1beta2:ResourceFlavor::queues-flavor",
        "hpc:security:MpiScc::mpi-scc",
    ]
    state_ = [{"urn": stem + tail, "type": tail.split("::")[0].split("$")[-1]} for tail in (*stay, *tenants, *queues)]
    found = splitting.movable(state_, environment(TENANTS), environment(PLATFORM))
    assert found == [stem + tail for tail in (*tenants, *queues)]


def test_only_tenants_are_split_off(stacks: Callable[[str], Stack]) -> None:
    """Prevents the state of a whole environment from being moved into another."""
    assert splitting.platform_of(stacks(TENANTS)).options == "--stack two-layers --name lab"
    for name in (PLATFORM, "dev"):
        with pytest.raises(Problem, match="is not a file of tenants alone"):
            splitting.platform_of(stacks(name))


def test_a_copy_of_tenants_names_their_cluster(tmp_path: Path, stacks: Callable[[str], Stack]) -> None:
    """Prevents the program from going to the platform's usual cluster when both are on another (`--name`)."""
    copy = tmp_path / "copy.yaml"
    settings_copy.renew(stacks(TENANTS).file, copy, {"kubeconfig": "/k", "context": "c"})
    assert settings_copy.read(copy)["config"]["hpc:platform"]["cluster"] == {"kubeconfig": "/k", "context": "c"}


def test_messages_name_the_file_that_has_the_setting(stacks: Callable[[str], Stack]) -> None:
    """Prevents advice to write `protect` or `cluster.uid` into a file of tenants, which takes neither."""
    assert [stacks(name).platform_file.name for name in (TENANTS, PLATFORM, "dev")] == [
        "two-layers.yaml",
        "two-layers.yaml",
        "Pulumi.dev.yaml",
    ]
    tenants = stacks(TENANTS)
    write_state(tenants, TENANTS, [{**SOMETHING[0], "protect": True}])
    with pytest.raises(Problem, match=r"set `protect: false` in two-layers.yaml, run `./hpc up --stack two-layers-ten"):
        state.require_unprotected(tenants)


def test_policies_see_the_platform_of_tenants(stacks: Callable[[str], Stack]) -> None:
    """Prevents every link to the SCC from being called dangling, or from being verified against nothing."""
    given = settled(stacks(TENANTS).settings)[WHOLE_STACK][BESIDE]
    kinds = {manifest["kind"] for manifest in given}
    assert {"SecurityContextConstraints", "StorageClass", "ResourceFlavor"} <= kinds
    assert "Secret" not in kinds
    assert WHOLE_STACK not in settled(stacks(PLATFORM).settings)
