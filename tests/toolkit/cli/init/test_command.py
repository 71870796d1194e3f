"""`./hpc init`, from a cluster that answers to a file, and where it cannot."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.apis import kinds
from core.simulated import SIMULATED_BY
from core.yaml import text as yaml_text
from stacks.loading import settings
from tests.support.commands import finished
from tests.support.messages import has
from tests.toolkit.cli.init.kit import CONTEXT, TOKEN, Api, api, cluster, dgx, kubeconfig, node, obj, subscription
from toolkit.cli.init import command as module
from toolkit.cli.init import examples, settings_file
from toolkit.cli.shared import cluster_client
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.paths import ROOT

Run = Callable[..., tuple[int, str]]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a project with the examples, and nothing else."""
    root = tmp_path / "project"
    root.mkdir()
    shutil.copytree(ROOT / "stacks", root / "stacks", ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    monkeypatch.setattr(module, "ROOT", root)
    return root


@pytest.fixture
def init(project: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Give `./hpc init site` on an API: of the kit's cluster, unless another is given."""

    def run(*arguments: str, answers: Api | None = None) -> tuple[int, str]:
        found = answers or api(cluster())
        monkeypatch.setattr(cluster_client, "Cluster", lambda *_given, **_named: found)
        return finished(module.command, "site", "--kubeconfig", str(kubeconfig(project)), *arguments)

    return run


@pytest.fixture
def settings_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Check the settings, and not what they declare, which takes most of the time."""
    monkeypatch.setattr(settings_file, "registrations", lambda *_: ())


def written(project: Path) -> Any:
    """Return the settings in the file that was written."""
    return yaml_text.read((project / "Pulumi.site.yaml").read_text())["config"]["hpc:platform"]


def test_a_whole_cluster_gives_settings_that_are_valid(init: Run, project: Path) -> None:
    """Release, identity, nodes, machine, operators and storage are the cluster's; the rest is an example's."""
    status, printed = init("--template", "h100-roce")
    assert (status, "the settings are valid, and no mandatory policy refuses" in printed) == (0, True), printed
    found = settings.load("site", project)
    assert (found.release, found.cluster.uid, found.cluster.context) == (
        "4.20",
        "4f4a3f5e-8d5a-4c55-9b1e-0a6f0c4f8a11",
        CONTEXT,
    )
    assert found.cluster.path(project) == project / "kubeconfig"
    assert [node.name for node in found.gpu_nodes] == ["gpu-01.lab", "gpu-02.lab", "gpu-03.lab", "gpu-04.lab"]
    assert {node.machine for node in found.gpu_nodes} == {"dgx-h100"}
    data: Any = found.tenants[0].volumes[0]
    assert data.storage_class == "files"
    test, rdma, *_ = (stage["workloads"][0] for stage in written(project)["stages"])
    assert (test["node"], rdma["client_node"]) == ("gpu-[01-04].lab", "gpu-01.lab")
    assert "tenants[0].volumes[0].storage_class: a class whose volumes many nodes can mount (ReadWriteMany)" in printed
    assert "./hpc state init --stack site" in printed


@pytest.mark.usefixtures("settings_alone")
def test_what_a_person_decides_is_a_comment_at_its_place(init: Run, project: Path) -> None:
    """Comments are above what they are about; the file names its schema, and the place of the state."""
    init("--template", "h100-roce")
    lines = (project / "Pulumi.site.yaml").read_text().splitlines()
    assert lines[0] == "# yaml-language-server: $schema=docs/schemas/settings.json"
    assert "OpenShift 4.20.8, 7 nodes; MTU of the pod network 8900" in " ".join(line[2:] for line in lines[1:4])
    place = lines.index("            storage_class: files")
    assert lines[place - 1].strip().startswith("# DECIDE: a class whose volumes many nodes can mount")
    (state,) = (number for number, line in enumerate(lines) if line == "    # state:")
    assert lines[state + 2] == "    nodes:"


@pytest.mark.usefixtures("settings_alone")
def test_nothing_secret_is_written(init: Run, project: Path) -> None:
    """The token of the kubeconfig is in no file that is written."""
    _, printed = init()
    assert TOKEN not in printed + (project / "Pulumi.site.yaml").read_text()


def test_a_machine_that_the_facts_leave_open_is_listed(init: Run, project: Path) -> None:
    """Where several machines fit, all are listed and none is chosen; choosing one makes the settings valid."""
    nodes = [node("m1", "master"), *(node(f"dgx0{number}", cpus=224, gib=2015) for number in (1, 2, 3, 4))]
    status, printed = init("--template", "h100-roce", answers=api(cluster(NODE=nodes)))
    assert (status, [each.get("machine") for each in written(project)["nodes"]]) == (0, [None, None])
    assert (
        "nodes[1].roles: which machine these are, of those that have no label of GPUs, 224 CPUs, 2015 GiB, x86_64"
        in printed
    )
    assert "nodes: none has a machine" in printed
    file = project / "Pulumi.site.yaml"
    assert "        # machine: dgx-h100\n        # machine: dgx-h200\n" in file.read_text()
    file.write_text(file.read_text().replace("# machine: dgx-h100", "machine: dgx-h100"))
    assert [each.machine for each in settings.load("site", project).gpu_nodes] == ["dgx-h100"] * 4


def test_an_unknown_machine_gets_a_file_to_complete(init: Run, project: Path) -> None:
    """An unknown machine gets a file that the settings name, with its gaps and the command that fills them."""
    nodes = [node("m1", "master"), dgx("gpu-1", machine="SYS-821GE-TNHR")]
    _, printed = init("--template", "h100-roce", answers=api(cluster(NODE=nodes)))
    assert "written: Pulumi.site.yaml, machines/site-sys-821ge-tnhr.yaml" in printed
    found = written(project)
    assert (found["machines"], found["nodes"][1]["machine"]) == (
        ["machines/site-sys-821ge-tnhr.yaml"],
        "site-sys-821ge-tnhr",
    )
    assert has(printed, "no known machine", "8 NVIDIA-H100-80GB-HBM3", "224 CPUs")
    text = (project / "machines" / "site-sys-821ge-tnhr.yaml").read_text()
    (command,) = (line for line in text.splitlines() if "./hpc hardware discover" in line)
    assert command.startswith(f"# ./hpc hardware discover --kubeconfig kubeconfig --context {CONTEXT} --node gpu-1")
    assert yaml_text.read(text) == {"base": "hgx-h100", "model": "SYS-821GE-TNHR", "source": "labels of node gpu-1"}
    assert has(printed, "Pulumi.site.yaml:", ": machines[0]: ")
    assert has(printed, "cpu_cores, memory_gib, numa, link_layer, ports, hcas", "missing")


@pytest.mark.usefixtures("settings_alone")
def test_a_simulated_cluster_is_marked_as_one(init: Run, project: Path) -> None:
    """Settings of a simulated cluster have neither its identity, which changes with it, nor a state to name."""
    nodes = [node("m1", "master"), dgx("gpu-1"), dgx("gpu-2")]
    nodes[0]["metadata"]["annotations"] = {SIMULATED_BY: "kwok"}
    _, printed = init("--template", "h100-roce", answers=api(cluster(NODE=nodes)))
    own = written(project)["cluster"]
    assert (own["simulated"], "uid" in own) == (True, False)
    assert "state" not in printed.partition("next")[2]


@pytest.mark.usefixtures("settings_alone")
def test_what_is_installed_is_imported_first(init: Run) -> None:
    """An existing Subscription is followed, and the next command is the one that imports it."""
    there = subscription("nfd", "openshift-nfd", "stable", installedCSV="nfd.v4.20")
    version = obj("nfd.v4.20", "openshift-nfd", status={"phase": "Succeeded"})
    _, printed = init(answers=api(cluster(SUBSCRIPTION=[there], CLUSTER_SERVICE_VERSION=[version])))
    assert "node_feature_discovery" in printed.partition("marked with REVIEW")[2]
    assert printed.index("./hpc state adopt --stack site    #") < printed.index("./hpc up --stack site")


def test_files_that_are_there_are_not_overwritten(init: Run, project: Path) -> None:
    """Neither settings nor machines are overwritten without --force, and nothing is written then."""
    nodes = [node("m1", "master"), dgx("gpu-1", machine="SYS-821GE-TNHR")]
    file = project / "machines" / "site-sys-821ge-tnhr.yaml"
    file.parent.mkdir()
    file.write_text("base: hgx-h100\n")
    with pytest.raises(Problem, match=r"site-sys-821ge-tnhr.yaml is there already[\s\S]*--force"):
        init(answers=api(cluster(NODE=nodes)))
    assert not (project / "Pulumi.site.yaml").exists()
    assert init("--force", answers=api(cluster(NODE=nodes)))[0] == 0
    assert "SYS-821GE-TNHR" in file.read_text()


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"CLUSTER_VERSION": []}, r"has no ClusterVersion: no OpenShift 4[\s\S]*--kubeconfig, --context"),
        (
            {"CLUSTER_VERSION": [obj("version", status={"desired": {"version": "4.17.3"}})]},
            r"OpenShift 4.17.3, and release 4.17 is not known here\nKnown are 3.11, [\s\S]*stacks/releases",
        ),
        (
            {"NODE": [node("m1", "master"), node("w1")]},
            r"none of the 2 nodes shows GPUs: no label names a GPU[\s\S]*Install Node Feature Discovery",
        ),
        (
            {"NODE": [node("w1", feature_node_kubernetes_io__pci="x")]},
            r"none of the 1 nodes shows GPUs: labels of node feature discovery name no GPU of NVIDIA",
        ),
        ({"NODE": []}, r"none of the 0 nodes shows GPUs"),
    ],
)
def test_a_cluster_that_cannot_have_a_stack_is_one_message(init: Run, changed: dict[str, Any], message: str) -> None:
    """A cluster that cannot have a stack is refused with what it lacks and the remedy."""
    with pytest.raises(Problem, match=message):
        init(answers=api(cluster(**changed)))


@pytest.mark.parametrize(
    ("refused", "message"),
    [
        ({"version": (403, "no right")}, r"clusterversions cannot be read: 403, no right\nLog in[\s\S]*cluster-reader"),
        ({"nodes": (401, "Unauthorized")}, r"nodes cannot be read: 401, Unauthorized\nLog in"),
        ({"nodes": (500, "etcd")}, r"refuses /api/v1/nodes: etcd"),
        ({"version": "html"}, r"clusterversions sends no JSON: it is not an API server\nCorrect the server"),
    ],
)
def test_missing_rights_are_one_message(init: Run, refused: dict[str, Any], message: str) -> None:
    """Without the right to read version and nodes the command fails with the role that grants it."""
    with pytest.raises(Problem, match=message):
        init(answers=api(cluster(), **refused))


@pytest.mark.usefixtures("settings_alone")
def test_what_else_cannot_be_read_is_reported(init: Run, project: Path) -> None:
    """Without rights on packages, SCCs and Deployments the file is written, and names what was not read."""
    refused = dict.fromkeys(("packagemanifests", "securitycontextconstraints", "deployments"), (403, "no right"))
    status, printed = init("--template", "h100-roce", answers=api(cluster(), **refused))
    assert status == 0
    assert has(printed, "warning", "packagemanifests", "403, no right")
    assert "# Not read: deployments: 403, no right" in (project / "Pulumi.site.yaml").read_text()
    assert written(project)["gpu"]["operator"]["channel"] == "v26.7"


@pytest.mark.usefixtures("settings_alone")
def test_a_release_out_of_support_is_a_warning(init: Run) -> None:
    """The release of the Redpaper can be used, with a warning."""
    version = obj("version", status={"desired": {"version": "4.4.33"}})
    _, printed = init(answers=api(cluster(CLUSTER_VERSION=[version])))
    assert has(printed, "warning", "OpenShift 4.4", "out of support", "docs/reference/releases.md")


def test_programs_of_an_example_are_marked(project: Path) -> None:
    """Programs with their images, and the trainer, are a site's own, and marked as such."""
    finished(module.command, "site", "--template", "pytorch")
    text = (project / "Pulumi.site.yaml").read_text()
    assert "    # REVIEW: programs of your teams: commands, images" in text
    assert "    # REVIEW: Kubeflow Trainer, and its image" in text


def test_an_example_can_be_copied_without_a_cluster(project: Path) -> None:
    """A copy of an example has another name, and marks what is a site's own."""
    status, printed = finished(module.command, "site", "--template", "h100-roce")
    assert (status, "the settings are valid" in printed) == (0, True)
    own = written(project)["cluster"]
    assert own == {
        "kubeconfig": ".sim/site/kubeconfig",
        "context": "hpc-sim-site",
        "identifier": "site",
        "simulated": True,
    }
    assert ": nodes: names, roles and machines of your nodes" in printed
    text = (project / "Pulumi.site.yaml").read_text()
    assert "    # DECIDE: names, roles and machines of your nodes" in text
    assert "# RoCE on DGX H100" in text
    assert text.count("yaml-language-server") == 1
    steps = [line.split()[1] for line in printed.partition("next, when")[2].splitlines() if line.startswith("  ./hpc")]
    assert steps == ["render", "sim", "diff", "up"], "a diff needs the simulated cluster"


def test_a_copy_of_tenants_is_valid_beside_the_example(project: Path) -> None:
    """A copy of tenants does not collide with the example, and the platform that they rest on is to be decided."""
    status, printed = finished(module.command, "site", "--template", "two-layers-tenants")
    assert (status, "the settings are valid" in printed) == (0, True)
    assert "    # DECIDE: the stack of the platform that these" in (project / "Pulumi.site.yaml").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["site"], r"there is no cluster to ask\nName its kubeconfig[\s\S]*h100-roce"),
        (["site", "--template", "h100"], r"there is no example 'h100'\nName one of stacks/examples: .*h100-roce"),
        (["Site.1", "--template", "h100-roce"], r"'Site.1' is not a name of a stack\nUse at most 40 lower-case"),
        (
            ["h100-roce", "--template", "h100-roce"],
            r"h100-roce is the name of an example[\s\S]*Give",
        ),
        (["site", "--kubeconfig", "nowhere"], r"there is no kubeconfig nowhere\nCorrect --kubeconfig"),
    ],
)
@pytest.mark.usefixtures("project")
def test_wrong_arguments_are_one_message(arguments: list[str], message: str) -> None:
    """A wrong argument is refused with what to write."""
    with pytest.raises(Problem, match=message):
        finished(module.command, *arguments)


@pytest.mark.usefixtures("project")
def test_a_server_that_does_not_answer_is_one_message(tmp_path: Path) -> None:
    """A server that does not answer is an error with its context and what to check."""
    with pytest.raises(Problem, match=r"the API server of context 'a' does not answer[\s\S]*can be reached from here"):
        finished(module.command, "site", "--kubeconfig", str(kubeconfig(tmp_path, "a")))


def test_a_part_of_an_environment_is_no_template_of_a_cluster(init: Run) -> None:
    """An example of tenants alone is refused."""
    with pytest.raises(Problem, match=r"two-layers-tenants is only a part of an environment\nName one with"):
        init("--template", "two-layers-tenants")


@pytest.mark.usefixtures("settings_alone")
@pytest.mark.parametrize("name", [name for name in examples.names(ROOT) if examples.whole(examples.read(name, ROOT))])
def test_every_example_can_fill_in_what_cannot_be_read(init: Run, project: Path, name: str) -> None:
    """With every example the file is valid, and has the facts of the cluster."""
    status, printed = init("--template", name)
    assert status == 0
    found = written(project)
    assert (found["release"], found["nodes"][-1]["machine"]) == ("4.20", "dgx-h100")
    assert "to decide, marked with DECIDE" in printed


def test_the_simulated_kinds_are_those_that_are_read() -> None:
    """ClusterVersion and PackageManifest are where OpenShift serves them."""
    assert kinds.CLUSTER_VERSION.path(None, "version") == "/apis/config.openshift.io/v1/clusterversions/version"
    assert kinds.PACKAGE_MANIFEST.path() == "/apis/packages.operators.coreos.com/v1/packagemanifests"
