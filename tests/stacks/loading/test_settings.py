"""Settings: every rule that spans fields, and messages that say what to do."""

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.yaml import places
from stacks.loading.settings import Settings, SettingsError, load, parse
from stacks.resolved import jobs
from stacks.settings.layers import TENANTS_PART
from stacks.settings.storage import DirectoryVolume
from tests.support.recorded import OURS, ROOT
from tests.support.stack_settings import data as settings_of
from tests.support.stack_settings import expect_message, expect_refusal, message


@pytest.mark.parametrize("stack", OURS)
def test_stacks_load_without_secrets_or_engine(stack: str) -> None:
    """Every stack loads without passphrase and engine."""
    assert isinstance(load(stack, ROOT), Settings)


def test_kubeconfig_may_be_at_home(monkeypatch: pytest.MonkeyPatch) -> None:
    """`~` in the kubeconfig's path is the user's home."""
    monkeypatch.setenv("HOME", "/somebody")
    cluster = load("dev", ROOT).cluster
    paths = {cluster.model_copy(update={"kubeconfig": text}).path(ROOT) for text in ("~/.kube/config", "/a", "a/b")}
    assert paths == {Path("/somebody/.kube/config"), Path("/a"), ROOT / "a" / "b"}


def test_dev_is_the_lab_of_the_redpaper() -> None:
    """The dev stack has the Redpaper's figures of cluster and volume."""
    lab = load("dev", ROOT)
    storage, data = lab.storage, lab.tenant("adas").all_volumes["data"]
    assert storage is not None
    assert isinstance(data, DirectoryVolume)
    assert list(storage.known_clusters) == ["16217308676014575381", "215057217487177715"]
    assert storage.own_cluster == "16217308676014575381"
    assert str(data.handle(storage)) == "16217308676014575381;099B6A7A:5EB99743;path=/gpfs/ess3000_4M/adas"
    assert [job.name for job in jobs.every(lab)] == [
        "mofed-test-job",
        "nv-nccl-dgx01",
        "nv-nccl-dgx02",
        "nccl-test-01x08",
        "nccl-test-02x08",
        "nccl-test-16x01",
        "tf2-resnet50-01x08x01",
        "tf2-resnet50-02x08x02",
        "tf2-a2d2-08x01x01-gpu",
        "tf2-a2d2-16x01x02-gpu",
    ]


def test_prod_has_tenants_and_protects_them() -> None:
    """Production has several tenants, and protects them."""
    prod = load("prod", ROOT)
    assert prod.protect
    assert len(prod.tenants) > 1
    assert prod.storage is not None
    assert prod.storage.ca_certificate is not None


def test_all_errors_are_reported_at_once_with_path_value_and_remedy() -> None:
    """All errors of a file are reported at once, with path, value and remedy."""
    data = settings_of("dev")
    data["colour"] = "blue"
    data["fabric"]["hca_max"] = 0
    data["nodes"][5]["machine"] = "dgx9"
    text = message(data)
    assert "Pulumi.test.yaml: 3 wrong" in text
    expect_message(text, "colour: …; remove it")
    expect_message(text, "fabric.hca_max … (value: 0)")
    expect_message(text, "nodes[5].machine … 'dgx9'; known: dgx-a100, … dgx1-v100-16gb")


@pytest.mark.parametrize(
    ("place", "name", "meant"),
    [
        ((), "priority_clases", "did you mean priority_classes?"),
        (("cluster",), "kubeconfg", "remove it or correct its name"),  # kubeconfig is written already
        (("cluster",), "uuid", "did you mean uid?"),
        (("nodes", 0), "free_gpu", "did you mean free_gpus?"),
        (("fabric",), "hca_maximum", "did you mean hca_max?"),
        (("tenants", 0, "volumes", 0), "file_set", "did you mean fileset?"),
        (("stages", 2, "workloads", 0), "transports", "did you mean transport?"),
    ],
)
def test_a_mistyped_field_is_reported_with_the_one_that_it_is_close_to(
    place: tuple[str | int, ...], name: str, meant: str
) -> None:
    """An unknown field names the field of that place that was probably meant, of the variant that is used."""
    data = settings_of("dev")
    part: Any = data
    for each in place:
        part = part[each]
    part[name] = 1
    expect_refusal(data, f"{places.path((*place, name))}: …; {meant}")


def test_the_nodes_of_a_job_are_its_layout() -> None:
    """`nodes` of a job is no misspelt `node`, which pins to one: the layout was meant, unless it is written, too."""
    data = settings_of("dev")
    job = data["stages"][2]["workloads"][0]
    job["nodes"] = 2
    expect_refusal(data, "stages[2].workloads[0].nodes: …; remove it or correct its name")
    del job["layout"]
    expect_refusal(data, "stages[2].workloads[0].nodes: …; did you mean layout: {pods, gpus}?")


@pytest.mark.parametrize(
    ("field", "expected"), [("machin", "…; did you mean machine?"), ("machine", "… 'dgx9'; known: dgx-a100")]
)
def test_nodes_of_a_range_are_one_entry(field: str, expected: str) -> None:
    """An error of many nodes with one entry is reported once, at that entry's place in the file."""
    data = settings_of("h100-roce")
    last = len(data["nodes"]) - 1
    del data["nodes"][last]["machine"]
    data["nodes"][last][field] = "dgx9"
    text = message(data)
    assert "Pulumi.test.yaml: 1 wrong" in text
    expect_message(text, f"nodes[{last}].{field}: {expected}")


def test_shared_nodes_may_be_ranges() -> None:
    """A range among the nodes that a stack shares means its nodes; a wrong one is refused at the list."""
    data = settings_of("dev")
    data["cluster"]["shared_nodes"] = ["gpu[09-10].lab", "team-1"]
    assert parse(data, "Pulumi.test.yaml").cluster.shared_nodes == ("gpu09.lab", "gpu10.lab", "team-1")
    data["cluster"]["shared_nodes"] = ["gpu[1-02]"]
    expect_refusal(data, "cluster.shared_nodes: gpu[1-02]: the range 1-02 …; write 01-02 or 1-2")


def test_a_wrong_range_is_reported_at_its_name_alone() -> None:
    """Jobs on nodes of a range that means none are not reported, too."""
    data = settings_of("dev")
    del data["nodes"][6]
    data["nodes"][5]["name"] = "dgx[1-02].ocp4.scale.ibm.com"
    text = message(data)
    assert "1 wrong" in text
    expect_message(text, "nodes[5].name: dgx[1-02].ocp4.scale.ibm.com: the range 1-02 …; write 01-02 or 1-2")


def test_jobs_on_nodes_of_a_range_are_one_entry() -> None:
    """An error of a job on many nodes is reported once, and later entries by their own place."""
    data = settings_of("dev")
    job = {"kind": "job", "tenant": "adas", "name": "a", "program": "cuda-vector-add"}
    data["stages"][0]["workloads"] = [job | {"node": "dgx[01-02]", "gpus": 0}, job | {"name": "b", "gpus": 17}]
    text = message(data)
    assert "2 wrong" in text
    expect_message(text, "stages[0].workloads[0].gpus: … (value: 0)")
    expect_message(text, "stages[0].workloads[1].gpus: … (value: 17)")


def test_errors_do_not_show_what_may_be_a_secret() -> None:
    """Values of unknown fields, and of fields for secrets, are not printed."""
    data = settings_of("dev")
    data["scaleGui"] = {"csisecret-local": {"password": "planted"}}
    data["password"] = "planted"
    data["storage"]["clusters"][0] |= {"password": "planted", "secret": "planted, too"}
    data["state"] = {"backend": "postgres://user:planted@db/x", "secrets_provider": "hashivault/planted"}
    text = message(data)
    assert "planted" not in text
    expect_message(text, "storage.clusters[0].secret: … ")
    expect_message(text, "storage.clusters[0].password: …; remove it")
    data = settings_of("dev")
    data["state"] = {"secrets_provider": "hashivault/planted"}
    data["fabric"]["kind"] = "shown"
    text = message(data)
    assert "planted" not in text
    expect_message(text, "state.secrets_provider: … ")


def test_missing_settings_are_named() -> None:
    """A file without settings is refused by the name of the key."""
    expect_refusal(None, "hpc:platform … missing")


@pytest.mark.parametrize("content", [b"", b"- a list", b"config: {}", b"config:\n  other: 1", b"\xff\xfe\x00"])
def test_files_that_are_no_settings_are_refused_plainly(tmp_path: Path, content: bytes) -> None:
    """An empty or foreign file is refused without a traceback."""
    (tmp_path / "Pulumi.bad.yaml").write_bytes(content)
    with pytest.raises(SettingsError, match=r"is missing|is not text in UTF-8; save it"):
        load("bad", tmp_path)


def test_a_wrong_item_is_reported_once() -> None:
    """A list is not also too short because of a wrong item in it."""
    data = settings_of("dev")
    data["nodes"][0]["roles"] = ["boss"]
    text = message(data)
    assert "1 wrong" in text
    assert "nodes[0].roles[0]" in text


def test_a_tenant_that_is_given_twice_is_reported_once() -> None:
    """What two tenants of one name share by that is not reported, too."""
    data = settings_of("dev")
    data["tenants"].append(data["tenants"][0])
    text = message(data)
    assert "1 wrong" in text
    assert "namespace 'adas' is given twice" in text


@pytest.mark.parametrize(
    ("field", "value", "expected"),
    [
        ("protect", "maybe", "protect: is not true or false (value: 'maybe'); write one"),
        (
            "gpu",
            {**settings_of("h100-roce")["gpu"], "installed": True},
            "gpu.installed: …; did you mean gpu.operator.in",
        ),
        ("cluster", None, "cluster: is not a map of fields; write its fields below it"),
    ],
)
def test_values_of_another_type_have_a_remedy(field: str, value: Any, expected: str) -> None:
    """A wrong type is described by YAML's words, with what to write."""
    text = message(settings_of("dev") | {field: value})
    expect_message(text, expected)
    assert "Settings" not in text, "no class of Python's"


def test_rules_over_several_fields_name_the_settings_themselves() -> None:
    """A problem between settings begins with the setting's path."""
    data = settings_of("dev")
    data["nodes"][0]["name"] = data["nodes"][1]["name"]
    expect_refusal(data, "  nodes 'master02.ocp4.scale.ibm.com' … ")


@pytest.mark.parametrize(
    ("field", "value", "expected"),
    [
        ("namespace", "adas", "tenants: namespace 'adas' …; give each its own"),
        ("mcs", "s0:c27,c24", "tenants: mcs 's0:c27,c24' …; give each its own"),
        ("uid_range", {"start": 1075489000}, "tenants: uid_range … overlaps"),
        ("run_as_uid", 1075481000, "run_as_uid 1075481000 … uid_range 1075490000/10000"),
    ],
)
def test_tenants_share_nothing(field: str, value: object, expected: str) -> None:
    """Tenants cannot share namespace, SELinux level or ids."""
    data = settings_of("dev")
    other = copy.deepcopy(data["tenants"][0]) | {
        "namespace": "other",
        "mcs": "s0:c1,c2",
        "uid_range": {"start": 1075490000},
        "run_as_uid": 1075491000,
        field: value,
    }
    if field == "uid_range":
        other["run_as_uid"] = 1075489500
    other["volumes"][0] |= {"volume": "other-data-pv01"}
    data["tenants"].append(other)
    expect_refusal(data, expected)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"layout": {"pods": 1, "gpus": 9}}, "layout.gpus 9 … 8 of dgx1-v100-16gb"),
        ({"shm_gib": 369}, "shm_gib 369 … 368 GiB; lower it"),
        ({"layout": {"pods": 3, "gpus": 8}}, "layout 03x08 … 2 nodes … 8 free GPUs"),
        ({"layout": {"pods": 3, "gpus": 8}}, "layout 03x08 … 24 GPUs … tenant adas … gpu_quota of 16"),
        ({"tenant": "nobody"}, "tenant 'nobody' is unknown; known: adas"),
        ({"layout": {"pods": 2, "gpus": 8}}, "stages: job 'adas/nccl-test-02x08' … "),
    ],
)
def test_workloads_fit_the_platform(change: dict[str, Any], expected: str) -> None:
    """Jobs that can never be placed, or have the same name, are refused."""
    data = settings_of("dev")
    data["stages"][2]["workloads"][0] |= change
    expect_refusal(data, expected)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"hca": "mlx5_7"}, "hca 'mlx5_7' … dgx1-v100-16gb: mlx5_0, mlx5_1, mlx5_2, mlx5_3"),
        ({"client_node": "worker03.ocp4.scale.ibm.com"}, "'worker03.ocp4.scale.ibm.com' … GPU node"),
        ({"client_node": "dgx02.ocp4.scale.ibm.com"}, "dgx02.ocp4.scale.ibm.com …; name two nodes"),
    ],
)
def test_rdma_test_names_two_gpu_nodes_and_an_hca(change: dict[str, Any], expected: str) -> None:
    """The bandwidth test needs an HCA and two different GPU nodes."""
    data = settings_of("dev")
    data["stages"][0]["workloads"][0] |= change
    expect_refusal(data, expected)


def test_cluster_ids_are_strings() -> None:
    """A cluster id must be a string, which JSON does not round (policy 10)."""
    data = settings_of("dev")
    data["storage"]["clusters"][0]["id"] = 16217308676014575381
    expect_refusal(
        data, "storage.clusters[0].id: is not text (value: 16217308676014575381); write text, a number in quotes"
    )


def test_exactly_one_cluster_is_local() -> None:
    """Exactly one cluster has the primary fileset, and begins volume handles."""
    data = settings_of("dev")
    del data["storage"]["clusters"][0]["primary"]
    expect_refusal(data, "storage … give one to the local cluster alone")


def test_unknown_stack_names_the_known_ones(tmp_path: Path) -> None:
    """An unknown stack is refused with the known ones."""
    with pytest.raises(SettingsError, match=r"Pulumi\.nosuch\.yaml is missing; known stacks: dev, .*prod"):
        load("nosuch", ROOT)
    (tmp_path / "Pulumi.bad.yaml").write_text("config: [")
    with pytest.raises(SettingsError, match=r"^Pulumi\.bad\.yaml:1:10: the text ends within brackets"):
        load("bad", tmp_path)


@pytest.mark.parametrize("edit", [lambda data: data.update(tenants=[]), lambda data: data.pop("tenants")])
def test_the_last_tenant_can_go(edit: Callable[[dict[str, Any]], object]) -> None:
    """A file without tenants is refused with `layer: platform` as the remedy, which works."""
    data = settings_of("dev")
    edit(data)
    expect_refusal(data, "tenants … `layer: platform`")
    without = {key: value for key, value in data.items() if key not in TENANTS_PART}
    assert not parse({**without, "layer": "platform"}, "Pulumi.test.yaml").tenants


@pytest.mark.parametrize(
    ("edit", "remedy"),
    [
        (lambda data: data.pop("nodes"), "nodes: …; add it"),
        (lambda data: data.update(nodes=[]), "nodes: …; add what is missing"),
        (
            lambda data: data["tenants"][0].update(namespace=7),
            "tenants[0].namespace: … (value: 7); write text, a number in",
        ),
        (
            lambda data: data.update(site={"name_servers": ["dns"]}),
            "site.name_servers[0]: … (value: 'dns'); write one as",
        ),
        (
            lambda data: data["tenants"][0].update(namespace="A B"),
            "tenants[0].namespace: is not a name …; write e.g. team-a",
        ),
        (
            lambda data: data["tenants"][0]["volumes"][0].update(capacity="10TB"),
            "volumes[0].capacity: is not a quantity of Kubernetes (value: '10TB'); write e.g. 10Ti",
        ),
        (lambda data: data.update(release="9.9"), "release: …; write one of these"),
    ],
)
def test_errors_of_types_and_bounds_have_a_remedy(edit: Callable[[dict[str, Any]], object], remedy: str) -> None:
    """Errors of types and bounds have a remedy."""
    data = settings_of("dev")
    edit(data)
    expect_refusal(data, remedy)


@pytest.mark.parametrize(
    ("policies", "expected"),
    [
        ({"rules": {"a": 1}}, "policies: … rules: is no list of folders; write e.g. [rules]"),
        ({"gpu-limit": ["a"]}, "policies: … gpu-limit: is a list; write the rule's parameters"),
        ({"gpu-limit": 3}, "policies.gpu-limit: is neither parameters nor a level; write e.g. … (value: 3)"),
    ],
)
def test_policies_are_by_rule_and_rules_a_list(policies: dict[str, Any], expected: str) -> None:
    """Under `policies` the key `rules` has folders, and every other the parameters of a rule."""
    expect_refusal(settings_of("dev") | {"policies": policies}, expected)
