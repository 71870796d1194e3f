"""Layers of an environment on one cluster, by what their states say."""

from collections.abc import Callable
from pathlib import Path

import pytest

from policies.configuration import BESIDE, WHOLE_STACK
from stacks.loading import settings as stack_settings
from stacks.loading.settings import SettingsError
from tests.support.messages import has
from tests.support.recorded import environment
from tests.support.states import write_state
from toolkit.cli.shared import settings_copy, stack_checks
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.policy_configuration import settled
from toolkit.cli.shared.stack import Stack, read
from toolkit.cli.state import split

PLATFORM, TENANTS = "two-layers", "two-layers-tenants"
SOMETHING = [{"urn": "urn:pulumi:s::hpc::kubernetes:core/v1:Namespace::a", "type": "kubernetes:core/v1:Namespace"}]


@pytest.fixture
def stacks(sim_home: Path) -> Callable[[str], Stack]:  # noqa: ARG001 - it says where clusters are
    """Give what reads stacks on a simulated cluster."""
    return lambda name: read(name, "lab")


def test_layers_share_a_cluster_and_others_do_not(stacks: Callable[[str], Stack]) -> None:
    """Platform and tenants share a cluster and a backend; another stack is refused there."""
    platform, tenants, dev = (stacks(name) for name in (PLATFORM, TENANTS, "dev"))
    for name in (PLATFORM, TENANTS):
        write_state(dev, name, SOMETHING)
    stack_checks.require_own_cluster(platform)
    stack_checks.require_own_cluster(tenants)
    with pytest.raises(Problem, match=r"lab has stack two-layers"):
        stack_checks.require_own_cluster(dev)
    assert stack_checks.sharing_cluster(dev) == {"dev"}
    assert platform.backend == tenants.backend


def test_tenants_need_their_platform(stacks: Callable[[str], Stack]) -> None:
    """Tenants are refused while their platform is not up, with the command that brings it up."""
    tenants = stacks(TENANTS)
    with pytest.raises(
        Problem, match=r"two-layers, the platform .* not up on cluster lab[\s\S]*up --stack two-layers "
    ):
        stack_checks.require_platform(tenants)
    write_state(tenants, PLATFORM, SOMETHING)
    stack_checks.require_platform(tenants)
    stack_checks.require_platform(stacks("dev"))


def test_a_platform_stays_while_tenants_are_on_it(stacks: Callable[[str], Stack]) -> None:
    """A platform is not deleted while tenants are on it."""
    platform = stacks(PLATFORM)
    stack_checks.require_no_tenants(platform)
    write_state(platform, TENANTS, SOMETHING)
    with pytest.raises(Problem, match=r"platform of stack two-layers-tenants[\s\S]*destroy --stack two-layers-tenants"):
        stack_checks.require_no_tenants(platform)
    stack_checks.require_no_tenants(stacks(TENANTS))


def test_tenants_are_moved_before_the_platform_is_updated_alone(stacks: Callable[[str], Stack]) -> None:
    """A platform whose state has tenants is refused an update until they are split off."""
    platform = stacks(PLATFORM)
    urn = "urn:pulumi:two-layers::hpc::hpc:tenants:Tenant::adas"
    write_state(platform, PLATFORM, [{"urn": urn, "type": "hpc:tenants:Tenant"}])
    with pytest.raises(
        Problem, match=r"has tenants \(adas\)[\s\S]*`\./hpc state split --stack two-layers-tenants --name lab`"
    ):
        stack_checks.require_split(platform)
    stack_checks.require_split(stacks(TENANTS))
    write_state(platform, PLATFORM, SOMETHING)
    stack_checks.require_split(platform)


def test_a_platform_that_leaves_its_tenants_behind_is_reported(
    stacks: Callable[[str], Stack], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A platform's update warns of tenants' files that its settings do not fit any more."""
    platform = stacks(PLATFORM)
    stack_checks.warn_of_refused(platform)
    assert not capsys.readouterr().err

    def refuse(*_: object) -> None:
        raise SettingsError("Pulumi.x.yaml: 1 wrong")

    monkeypatch.setattr(stack_settings, "load", refuse)
    stack_checks.warn_of_refused(platform)
    said = capsys.readouterr().err
    assert has(said, "warning", "stack two-layers-tenants", "refused")
    assert "Pulumi.x.yaml: 1 wrong" in said


def test_what_both_layers_declare_is_not_moved() -> None:
    """Only the tenants' own objects are moved: what both layers declare, such as the flavor, stays."""
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
    found = split.movable(state_, environment(TENANTS), environment(PLATFORM))
    assert found == [stem + tail for tail in (*tenants, *queues)]


def test_only_tenants_are_split_off(stacks: Callable[[str], Stack]) -> None:
    """Only a file of tenants is split off."""
    assert split.platform_of(stacks(TENANTS)).options == "--stack two-layers --name lab"
    for name in (PLATFORM, "dev"):
        with pytest.raises(Problem, match="is not a file of tenants alone"):
            split.platform_of(stacks(name))


def test_a_copy_of_tenants_names_their_cluster(tmp_path: Path, stacks: Callable[[str], Stack]) -> None:
    """The copy of tenants' settings names the cluster of `--name`."""
    copy = tmp_path / "copy.yaml"
    settings_copy.renew(stacks(TENANTS).file, copy, {"kubeconfig": "/k", "context": "c"})
    assert settings_copy.read(copy)["config"]["hpc:platform"]["cluster"] == {"kubeconfig": "/k", "context": "c"}


def test_messages_name_the_file_that_has_the_setting(stacks: Callable[[str], Stack]) -> None:
    """Messages about `protect` or `cluster.uid` name the platform's file, which has them."""
    assert [stacks(name).platform_file.name for name in (TENANTS, PLATFORM, "dev")] == [
        "two-layers.yaml",
        "two-layers.yaml",
        "Pulumi.dev.yaml",
    ]
    tenants = stacks(TENANTS)
    write_state(tenants, TENANTS, [{**SOMETHING[0], "protect": True}])
    with pytest.raises(Problem, match=r"set `protect: false` in two-layers.yaml, run `./hpc up --stack two-layers-ten"):
        stack_checks.require_unprotected(tenants)


def test_policies_see_the_platform_of_tenants(stacks: Callable[[str], Stack]) -> None:
    """Policies over tenants get the platform's objects, without Secrets."""
    given = settled(stacks(TENANTS).settings)[WHOLE_STACK][BESIDE]
    kinds = {manifest["kind"] for manifest in given}
    assert {"SecurityContextConstraints", "StorageClass", "ResourceFlavor"} <= kinds
    assert "Secret" not in kinds
    assert WHOLE_STACK not in settled(stacks(PLATFORM).settings)
