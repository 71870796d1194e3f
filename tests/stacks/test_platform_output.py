"""An environment in two stacks: what each file may hold, what collides across files, and the seam between them."""

import copy
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from stacks import platform_output
from stacks.loading.settings import Settings, SettingsError, load, tenants_of
from stacks.settings.layers import TenantsLayer
from tests.support.recorded import ROOT, environment, of_kind, only_object
from tests.support.stack_settings import expect_message, in_one
from toolkit.render.manifests import registrations
from toolkit.render.recorder import Registration

PLATFORM, TENANTS = "two-layers", "two-layers-tenants"
Edit = Callable[[dict[str, Any]], None]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Give a project with the pair of the examples as stacks of its own."""
    shutil.copytree(ROOT / "stacks" / "bases", tmp_path / "stacks" / "bases")
    for stack in (PLATFORM, TENANTS):
        shutil.copy(ROOT / "stacks" / "examples" / f"{stack}.yaml", tmp_path / f"Pulumi.{stack}.yaml")
    return tmp_path


def change(root: Path, stack: str, edit: Edit, to: str | None = None) -> None:
    """Change a stack's file, or what is written to another."""
    content = in_one(root / f"Pulumi.{stack}.yaml")
    edit(content["config"]["hpc:platform"])
    (root / f"Pulumi.{to or stack}.yaml").write_text(yaml.safe_dump(content))


def message(stack: str, root: Path) -> str:
    """Return why a stack is refused."""
    with pytest.raises(SettingsError) as caught:
        load(stack, root)
    return str(caught.value)


def vision(own: dict[str, Any]) -> None:
    """Make of the tenants' file one of another team that collides with no other."""
    tenant = own["tenants"][0]
    tenant |= {"namespace": "vision", "uid_range": {"start": 1075600000}, "mcs": "s0:c3,c9", "gpu_quota": 4}
    tenant |= {"run_as_uid": 1075600001, "run_as_gid": 1075600001}
    tenant["volumes"][0] |= {"volume": "vision-data", "claim": "vision-data", "path": "/mnt/ess3000/vision"}
    own |= {"tenants": [tenant], "builds": [], "stages": []}


def test_tenants_are_read_with_their_platform(root: Path) -> None:
    """A stack of tenants has the machines and rules of its platform's file."""
    platform, both = load(PLATFORM, root), load(TENANTS, root)
    assert not platform.tenants
    assert (platform.has_platform, platform.has_tenants) == (True, False)
    assert (both.has_platform, both.has_tenants) == (False, True)
    assert [tenant.namespace for tenant in both.tenants] == ["adas", "perception"]
    assert (both.nodes, both.fabric, both.queues, both.cluster) == (
        platform.nodes,
        platform.fabric,
        platform.queues,
        platform.cluster,
    )
    assert tenants_of(PLATFORM, root) == [TENANTS]


def test_a_team_finds_the_cluster_by_its_own_kubeconfig(root: Path) -> None:
    """A team may have its own kubeconfig; the cluster's identity is the platform's."""
    change(root, TENANTS, lambda own: own.update(cluster={"kubeconfig": "~/team", "context": "team"}))
    cluster = load(TENANTS, root).cluster
    assert (cluster.kubeconfig, cluster.context, cluster.identifier) == ("~/team", "team", "two-layers")


@pytest.mark.parametrize(
    ("stack", "edit", "said"),
    [
        (
            PLATFORM,
            lambda own: own.update(tenants=[{"namespace": "a"}], builds=[]),
            (
                "Pulumi.two-layers.yaml: 2 wrong",
                "tenants: … tenants",
                "builds: … tenants",
            ),
        ),
        (
            PLATFORM,
            lambda own: own.update(layer="tenants"),
            ("layer: … 'platform' (value: 'tenants')",),
        ),
        (
            TENANTS,
            lambda own: own.update(nodes=[], layer="platform"),
            (
                "Pulumi.two-layers-tenants.yaml: 2 wrong",
                "nodes: …; remove it",
                "layer: …; remove it",
            ),
        ),
        (TENANTS, lambda own: own.update(tenants=[]), ("tenants: has 0 entries and needs 1",)),
        (
            TENANTS,
            lambda own: own.update(platform="nowhere"),
            ("Pulumi.two-layers-tenants.yaml: … platform: 'nowhere' … ", "known stacks:"),
        ),
        (
            TENANTS,
            lambda own: own.update(platform=TENANTS),
            ("platform: 'two-layers-tenants' … ", "Pulumi.two-layers-tenants.yaml …; write `layer: platform`"),
        ),
    ],
)
def test_each_file_holds_its_own_part(root: Path, stack: str, edit: Edit, said: tuple[str, ...]) -> None:
    """A setting in the file of the other layer is refused, and the file is named."""
    change(root, stack, edit)
    text = message(stack, root)
    for part in said:
        expect_message(text, part)


def test_a_stack_with_tenants_of_its_own_is_no_platform(root: Path) -> None:
    """A stack with tenants of its own cannot be named as a platform."""
    shutil.copy(ROOT / "Pulumi.prod.yaml", root / "Pulumi.prod.yaml")
    change(root, TENANTS, lambda own: own.update(platform="prod"))
    expect_message(message(TENANTS, root), "Pulumi.prod.yaml …; write `layer: platform` there")


def test_errors_between_both_files_name_the_file(root: Path) -> None:
    """A problem with a setting of the platform names the platform's file."""

    def large(own: dict[str, Any]) -> None:
        own["stages"][1]["workloads"][0]["launcher"] = {"cpu": "400", "memory": "1Gi"}

    def wrong(own: dict[str, Any]) -> None:
        own["stages"][1]["workloads"][0]["tenant"] = "nobody"

    change(root, TENANTS, wrong)
    text = message(TENANTS, root)
    assert "Pulumi.two-layers-tenants.yaml: 1 wrong" in text
    expect_message(text, "  stages: job nccl-test: tenant 'nobody' is unknown; known: ")
    shutil.copy(ROOT / "stacks" / "examples" / f"{TENANTS}.yaml", root / f"Pulumi.{TENANTS}.yaml")
    change(root, TENANTS, large)
    assert "\n  Pulumi.two-layers.yaml:53:5: queues.launchers.cpus 4: " in message(TENANTS, root)
    change(root, PLATFORM, lambda own: own.update(release="5.0"))
    text = message(TENANTS, root)
    assert "two-layers' cannot be used" in text
    assert "Pulumi.two-layers.yaml: 1 wrong\n  Pulumi.two-layers.yaml:70:14: release: " in text


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("namespace", "adas", "namespace adas is in Pulumi.vision.yaml, too"),
        ("mcs", "s0:c27,c24", "mcs s0:c27,c24 of adas is that of vision in Pulumi.vision.yaml"),
        ("uid_range", {"start": 1075485000}, "overlaps"),
        (
            "volumes.0.volume",
            "adas-data-pv01",
            "data.volume adas-data-pv01 of adas is that of vision in Pulumi",
        ),
        ("volumes.0.path", "/mnt/ess3000/adas/part", "and /mnt/ess3000/adas/part of vision in Pulumi.vision.yaml"),
        ("gpu_quota", 5, "gpu_quota, with those in Pulumi.vision.yaml, add up to 25 GPUs, and there are 24"),
    ],
)
def test_tenants_of_different_files_do_not_collide(root: Path, field: str, value: Any, said: str) -> None:
    """Ids, SELinux levels, files and GPUs are unique over all files of a platform."""
    change(root, TENANTS, vision, to="vision")
    load("vision", root)
    load(TENANTS, root)

    def collide(own: dict[str, Any]) -> None:
        target = own["tenants"][0]
        *above, last = field.split(".")
        for key in above:
            target = target[int(key) if key.isdecimal() else key]
        target[last] = value
        if field == "uid_range":
            own["tenants"][0] |= {"run_as_uid": 1075485001, "run_as_gid": 1075485001}

    change(root, "vision", collide)
    text = message(TENANTS, root)
    assert said in text
    assert "Pulumi.vision.yaml" in text
    assert "Pulumi.two-layers-tenants.yaml" in message("vision", root)


def test_examples_are_no_tenants_of_a_platform_of_ones_own(root: Path) -> None:
    """An example counts as tenants of an example's platform alone, and never beside a stack of the project's own."""
    shutil.copytree(ROOT / "stacks" / "examples", root / "stacks" / "examples")
    change(root, TENANTS, lambda _: None, to="own")
    (root / f"Pulumi.{TENANTS}.yaml").unlink()
    assert tenants_of(PLATFORM, root) == ["own"]
    load("own", root)
    (root / f"Pulumi.{PLATFORM}.yaml").unlink()
    assert tenants_of(PLATFORM, root) == ["own", TENANTS]
    load("own", root)
    load(TENANTS, root)


def test_what_is_idle_is_lent_across_files(root: Path) -> None:
    """A cohort lends GPUs between tenants of different files."""
    change(root, TENANTS, vision, to="vision")
    both = load(TENANTS, root)
    assert both.most_gpus("adas") == 24
    assert load("vision", root).everyone[-1].namespace == "perception"


def test_a_broken_file_of_a_neighbour_is_named(root: Path) -> None:
    """A file of another stack that cannot be read is named."""
    change(root, TENANTS, lambda own: own["tenants"][0].pop("mcs"), to="vision")
    assert message(TENANTS, root).startswith("Pulumi.vision.yaml: ")


def _names(recorded: tuple[Registration, ...]) -> set[tuple[str, str]]:
    return {(item.type, item.name) for item in recorded if item.is_kubernetes}


def test_two_layers_declare_what_one_stack_does(root: Path) -> None:
    """Platform and tenants together declare the same objects as one stack."""
    parts = [yaml.safe_load((root / f"Pulumi.{stack}.yaml").read_text()) for stack in (PLATFORM, TENANTS)]
    upper, lower = (copy.deepcopy(part["config"]["hpc:platform"]) for part in parts)
    whole = {key: value for key, value in (upper | lower).items() if key not in ("layer", "platform")}
    (root / "Pulumi.whole.yaml").write_text(yaml.safe_dump({"config": {"hpc:platform": whole}}))
    one_stack, platform, tenants = registrations("whole", root), environment(PLATFORM), environment(TENANTS)
    assert _names(platform) | _names(tenants) == _names(one_stack)
    assert not _names(platform) & _names(tenants)
    whole_inputs = {(item.type, item.name): item.inputs for item in one_stack if item.is_kubernetes}
    for item in (*platform, *tenants):
        if item.is_kubernetes:
            assert item.inputs == whole_inputs[item.type, item.name], item.urn


def test_cluster_wide_parts_are_the_platforms() -> None:
    """Cluster-wide objects belong to the platform's stack."""
    for kind in ("SecurityContextConstraints", "ResourceFlavor", "StorageClass", "MachineConfigPool", "Kueue"):
        only_object(environment(PLATFORM), kind)
        assert not of_kind(environment(TENANTS), kind)
    assert len(of_kind(environment(TENANTS), "ClusterQueue")) == 2
    assert not of_kind(environment(PLATFORM), "ClusterQueue")


def _wanted() -> tuple[Settings, dict[str, str | list[str]]]:
    settings = load(TENANTS, ROOT)
    assert isinstance(settings, TenantsLayer)
    return settings, platform_output.dependencies(settings)


def test_both_stacks_mean_the_same_by_what_tenants_rest_on() -> None:
    """Both stacks derive the same dependencies, also after a round trip through the engine."""
    _, wanted = _wanted()
    assert wanted == platform_output.dependencies(load(PLATFORM, ROOT))
    assert wanted["scc"] == "scc-for-mpi"
    platform_output.require(PLATFORM, {platform_output.OUTPUT: copy.deepcopy(wanted)}, wanted)


@pytest.mark.parametrize("outputs", [None, {}, {"release": "4.20"}, {platform_output.OUTPUT: None}])
def test_a_platform_that_is_not_up(outputs: dict[str, Any] | None) -> None:
    """Tenants are refused while their platform's stack has no outputs."""
    with pytest.raises(
        platform_output.PlatformError, match=r"two-layers, the platform of these tenants, is not up[\s\S]*hpc up"
    ):
        platform_output.require(PLATFORM, outputs, _wanted()[1])


def test_a_platform_that_was_not_updated() -> None:
    """Tenants are refused while their platform's stack differs from its file, with both values."""
    _, wanted = _wanted()
    old = wanted | {"rdmaResources": ["rdma/shared_ib0"], "storageClasses": []}
    del old["mpiJob"]
    with pytest.raises(platform_output.PlatformError) as caught:
        platform_output.require(PLATFORM, {platform_output.OUTPUT: old}, wanted)
    text = str(caught.value)
    assert "was not updated since its file changed" in text
    assert "rdmaResources: the stack has rdma/shared_ib0, its file says rdma/shared_rail0, rdma/shared_rail1" in text
    assert "storageClasses: the stack has none, its file says scale-scratch" in text
    assert "mpiJob: the stack has none, its file says v2beta1" in text
    assert "Run `./hpc up --stack two-layers` first" in text
