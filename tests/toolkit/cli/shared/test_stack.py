"""The simulated cluster of a stack, by its settings."""

import subprocess
import sys

import pytest

from components.storage.storage_class import StorageClassArgs
from policies.scc.shipped import Release
from stacks.releases import RELEASES, ReleaseName
from tests.support.messages import has
from tests.support.states import on_real_cluster, write_state
from toolkit.cli.shared import stack_checks
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.paths import ROOT
from toolkit.cli.shared.simulated import spec as simulated_spec
from toolkit.cli.shared.stack import Stack, read
from toolkit.engine.tools.versions import KUBERNETES
from toolkit.simulator import state as states
from toolkit.simulator.home import Layout
from toolkit.simulator.state import ClusterSpec, Kubernetes, MpiGeneration, PortNumbers, ScaleGui, State


def _of(stack: Stack, release: ReleaseName) -> Stack:
    return Stack(stack.name, stack.settings.model_copy(update={"release": release}), stack.chosen)


def test_the_release_decides_what_is_simulated(dev: Stack) -> None:
    """The release decides which SCCs and which MPI operator the simulated cluster has."""
    assert [(spec.release, spec.mpi) for spec in (simulated_spec.of(dev), simulated_spec.of(_of(dev, "4.20")))] == [
        ("4.4", "v1alpha2"),
        ("current", "v2beta1"),
    ]
    assert [node.name for node in simulated_spec.of(dev).nodes] == [node.name for node in dev.settings.nodes]


def test_a_cluster_has_the_controllers_of_jobs_that_its_stack_uses(dev: Stack) -> None:
    """A stack without queues and JobSets starts none of their controllers; one with queues has Kueue's."""
    assert simulated_spec.of(dev).job_controllers == ()
    assert simulated_spec.of(read("superpod-a100")).job_controllers == ("kueue", "cert_manager")
    assert simulated_spec.of(read("pytorch")).job_controllers == ("jobset", "trainer", "cert_manager")
    assert not simulated_spec.of(read("pytorch")).gpu_operator
    assert (simulated_spec.of(dev).suite, simulated_spec.of(read("h200-infiniband")).suite) == (False, True)


def test_a_stack_with_caches_has_a_simulated_gui_of_storage_scale() -> None:
    """It is that of the cluster which has the caches, with their file systems; a stack without caches has none."""
    stack = read("redpaper-4.4")
    storage = stack.settings.storage
    assert storage is not None
    assert simulated_spec.of(stack).scale_gui is None
    own = {"class_name": "near", "file_system": "fs1", "cluster_id": "215057217487177715"}
    cache = {"kind": "cache", "secret": "home"}
    classes = (StorageClassArgs(**own, volumes=cache), StorageClassArgs(**own | {"class_name": "plain"}))  # type: ignore[arg-type]
    settings = stack.settings.model_copy(update={"storage": storage.model_copy(update={"classes": classes})})
    found = simulated_spec.of(Stack(stack.name, settings)).scale_gui
    assert found == ScaleGui(cluster_id="215057217487177715", file_systems=("fs1",))


def test_another_kubernetes_than_that_of_the_release_is_named(dev: Stack) -> None:
    """The simulated Kubernetes is named where the release has another minor version, and only there."""
    simulated = {name: release for name, release in RELEASES.items() if release.simulated_as}
    said = {name: simulated_spec.kubernetes_note(_of(dev, name)) for name in simulated}
    assert {name for name, line in said.items() if not line} == {"4.21", "4.22"}
    for name, release in simulated.items():
        served = release.simulated_kubernetes
        assert served in KUBERNETES
        assert simulated_spec.of(_of(dev, name)).kubernetes == served
        if said[name]:
            assert f"Kubernetes {KUBERNETES[served]}" in said[name]
            assert said[name].endswith(f"OpenShift {name} has {release.kubernetes}")


def test_a_release_has_its_own_kubernetes_where_that_is_served() -> None:
    """No release is served by a later Kubernetes than its own if it need not."""
    for name, release in RELEASES.items():
        if release.kubernetes in KUBERNETES:
            assert release.simulated_kubernetes == release.kubernetes, name


def test_a_release_that_nothing_serves(dev: Stack) -> None:
    """A stack of a release that is not simulated is refused with the reason."""
    old = _of(dev, next(name for name, release in RELEASES.items() if release.simulated_as is None))
    for refused in (lambda: simulated_spec.of(old), old.require_served, lambda: simulated_spec.fitting(old)):
        with pytest.raises(Problem, match=r"rendered and checked only[\s\S]*`\./hpc render --stack dev"):
            refused()


def test_a_context_that_the_simulated_cluster_lacks_is_refused(dev: Stack) -> None:
    """A wrong context of a simulated cluster is refused with the one that it has; `--name` chooses another cluster."""
    cluster = dev.settings.cluster.model_copy(update={"context": "production"})
    settings = dev.settings.model_copy(update={"cluster": cluster})
    with pytest.raises(Problem, match=r"cluster.context 'production'[\s\S]*hpc-sim-default[\s\S]*Pulumi.dev.yaml"):
        Stack("dev", settings).require_served()
    Stack("dev", settings, "mine").require_served()


def _made(stack: Stack, release: Release, mpi: MpiGeneration, kubernetes: Kubernetes = "1.34") -> None:
    """Write the record that a simulated cluster has of itself."""
    ports = PortNumbers(api=1, etcd=2, etcd_peer=3, kubelet=4)
    stack.home.mkdir(parents=True, exist_ok=True)
    spec = ClusterSpec(name="default", release=release, mpi=mpi, kubernetes=kubernetes)
    states.save(Layout(stack.home), State(spec=spec, ports=ports))


def test_a_cluster_of_another_release_is_left_alone(dev: Stack) -> None:
    """A simulated cluster of another generation of releases is refused and left as it is."""
    assert simulated_spec.fitting(dev) == simulated_spec.of(dev)
    _made(dev, "current", "v2beta1")
    with pytest.raises(Problem, match=r"release current, MPIJob v2beta1[\s\S]*sim clean --name default") as refused:
        simulated_spec.fitting(dev)
    assert "--raise" not in str(refused.value)
    assert simulated_spec.fitting(_of(dev, "4.20")).release == "current"


def test_a_real_cluster_may_have_its_kubeconfig_anywhere(dev: Stack) -> None:
    """The kubeconfig of a real cluster may have any path."""
    stack_checks.require_fitting(on_real_cluster(dev, kubeconfig="~/.kube/config"))
    _made(dev, "current", "v2beta1")
    with pytest.raises(Problem, match="sim clean --name default"):
        stack_checks.require_fitting(dev)


def test_a_cluster_goes_up_with_its_stack(dev: Stack) -> None:
    """A cluster is raised to a later release on request only, and an update does not lower it again."""
    today = _of(dev, "4.20")
    with pytest.raises(Problem, match=r"no simulated cluster default to raise[\s\S]*`\./hpc up --stack dev`"):
        simulated_spec.raised(today)
    _made(dev, "4.4", "v1alpha2")
    with pytest.raises(Problem, match=r"`\./hpc sim up --stack dev --raise`[\s\S]*docs/guide/upgrade.md"):
        simulated_spec.fitting(today)
    with pytest.raises(Problem, match="not an upgrade"):
        simulated_spec.raised(dev)
    spec, said = simulated_spec.raised(today)
    assert (spec.release, spec.mpi, spec.nodes) == ("upgraded", "v2beta1", simulated_spec.of(today).nodes)
    assert "objects, data, port and Pulumi state stay" in said
    _made(dev, "upgraded", "v2beta1")
    assert simulated_spec.fitting(today) == spec
    for down in (dev, today):
        with pytest.raises(Problem, match="not an upgrade"):
            simulated_spec.raised(down)
    with pytest.raises(Problem, match="sim clean"):
        simulated_spec.fitting(dev)


def test_a_cluster_gets_a_later_kubernetes_and_no_earlier_one(dev: Stack) -> None:
    """A cluster gets a later Kubernetes on request only, and never an earlier one."""
    before, after = _of(dev, "4.21"), _of(dev, "4.22")
    both: tuple[Release, ...] = ("current", "upgraded")
    for created in both:
        _made(dev, created, "v2beta1")
        assert simulated_spec.fitting(before).kubernetes == "1.34"
        with pytest.raises(
            Problem, match=r"Kubernetes 1\.35[\s\S]*`\./hpc sim up --stack dev --raise`[\s\S]*docs/guide/upgrade.md"
        ):
            simulated_spec.fitting(after)
        spec, said = simulated_spec.raised(after)
        assert (spec.release, spec.kubernetes) == (created, "1.35")
        assert has(said, "API server, controllers and scheduler")
        _made(dev, created, "v2beta1", "1.35")
        assert simulated_spec.fitting(after) == spec
        with pytest.raises(Problem, match=r"sim clean --name default") as refused:
            simulated_spec.fitting(before)
        assert "--raise" not in str(refused.value)
        with pytest.raises(Problem, match="not an upgrade"):
            simulated_spec.raised(before)


def test_a_cluster_takes_one_stack(dev: Stack) -> None:
    """A second stack on a cluster is refused, with the name of the first."""
    stack_checks.require_own_cluster(dev)
    for name, resources in (("prod", [{"urn": "a"}]), ("empty", []), ("dev", [{"urn": "a"}])):
        write_state(dev, name, resources)
    with pytest.raises(
        Problem, match=r"default has stack prod on it[\s\S]*--name[\s\S]*destroy --stack prod --name default"
    ):
        stack_checks.require_own_cluster(dev)
    backend = dev.backend
    assert backend is not None
    backend.store.remove(backend.key("prod"))
    stack_checks.require_own_cluster(dev)


def test_protected_objects_are_named_before_anything_is_deleted(dev: Stack) -> None:
    """Protected objects are named before anything is deleted, with what to do on a simulated cluster."""
    urn = "urn:pulumi:dev::hpc::hpc:tenants:Tenant$kubernetes:core/v1:Namespace::tenant-{}"
    kept = [{"urn": urn.format(number), "protect": True} for number in range(5)]
    for resources, refused in ((kept, True), ([{"urn": urn.format(9)}], False)):
        write_state(dev, "dev", resources)
        if not refused:
            stack_checks.require_unprotected(dev)
            continue
        with pytest.raises(Problem, match=r"Namespace tenant-0.* and 2 more[\s\S]*sim clean --name default"):
            stack_checks.require_unprotected(dev)


def test_all_files_that_settings_are_in() -> None:
    """A stack's settings are in its file and in its bases, and those of tenants in their platform's, too."""
    bases = [ROOT / "stacks" / "bases" / f"{name}.yaml" for name in ("today-queues", "today")]
    tenants, platform = (ROOT / "stacks" / "examples" / f"two-layers{part}.yaml" for part in ("-tenants", ""))
    assert read("prod").all_files == read("prod").files == (ROOT / "Pulumi.prod.yaml", *bases)
    assert read("two-layers-tenants").files == (tenants,)
    assert read("two-layers-tenants").all_files == (tenants, platform, *bases)


@pytest.mark.engine  # a process of its own
def test_a_stack_is_read_without_the_simulator() -> None:
    """A stack is read without the simulated cluster's code, and described without what only a running cluster needs."""
    code = (
        "import sys; from toolkit.cli.shared import stack; "
        "stacks = stack.read('dev'), stack.read('h100-roce'); print(*sys.modules); "
        "from toolkit.cli.shared.simulated import spec; [*map(spec.of, stacks)]; print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    read_with, described_with = (line.split() for line in done.stdout.splitlines())
    assert not [name for name in read_with if name.startswith("toolkit.simulator")]
    assert {"toolkit.simulator.cluster", "toolkit.simulator.bootstrap.apply"} <= set(described_with)
    assert not {"toolkit.simulator.actors.podactor", "toolkit.simulator.performance.pod_commands"} & set(described_with)
