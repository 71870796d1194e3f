"""Settings with a base: what is read, what is refused, and how an error names the file that has the value."""

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pulumi
import pytest
import yaml

from stacks import environment
from stacks.loading import bases
from stacks.loading.bases import SETTING
from stacks.loading.settings import SettingsError, file, load, tenants_of, whole
from tests.support.recorded import OURS, ROOT
from tests.support.stack_settings import data, expect_message

LAB = "redpaper-4.4"
CLUSTER = {"kubeconfig": "k", "context": "c", "identifier": "i"}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Give a project with the example of the lab as a base."""
    (tmp_path / "bases").mkdir()
    shutil.copy(ROOT / "stacks" / "examples" / f"{LAB}.yaml", tmp_path / "bases" / "lab.yaml")
    return tmp_path


def write(root: Path, settings: Mapping[str, Any], stack: str = "site") -> None:
    """Write the file of a stack."""
    (root / f"Pulumi.{stack}.yaml").write_text(yaml.safe_dump({"config": {SETTING: settings}}))


def base(root: Path, name: str, settings: Any) -> None:
    """Write a base that has settings alone."""
    (root / "bases" / f"{name}.yaml").write_text(yaml.safe_dump(settings))


def message(root: Path, stack: str = "site") -> str:
    """Return why a stack is refused."""
    with pytest.raises(SettingsError) as caught:
        load(stack, root)
    return str(caught.value)


def test_a_stack_is_what_its_file_says_over_its_bases(root: Path) -> None:
    """A base may be a stack's file or settings alone, and have a base; the result is that of one file."""
    base(
        root, "site", {"base": "bases/lab.yaml", "reboot_minutes": 20, "timeouts": {"operator": 1800}, "protect": True}
    )
    write(root, {"base": "bases/site.yaml", "cluster": {"identifier": "own"}, "reboot_minutes": 30})
    one = data(LAB, cabled=True) | {"reboot_minutes": 30, "protect": True, "timeouts": {"operator": 1800}}
    one["cluster"]["identifier"] = "own"
    write(root, one, "one")
    assert load("site", root) == load("one", root)
    assert whole("site", root).files == ("bases/site.yaml", "bases/lab.yaml")


def test_what_is_left_out_is_none_of_the_result(root: Path) -> None:
    """What `without` names is left out of the base, and may be given again."""
    stage = data(LAB)["stages"][-1]
    write(root, {"base": "bases/lab.yaml", "without": ["stages", "cluster.simulated"], "stages": [stage]})
    found = load("site", root)
    assert [each.name for each in found.stages] == [stage["name"]]
    assert not found.cluster.simulated


def test_the_engine_gets_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """The program of plain `pulumi`, which gets the stack's own file as its configuration, reads the base itself."""
    monkeypatch.setattr(pulumi.Config, "get_object", lambda *_: {"base": "stacks/examples/redpaper-4.4.yaml"})
    monkeypatch.setattr(pulumi, "get_stack", lambda: "site")
    assert environment.load() == load(LAB, ROOT)
    assert load("dev", ROOT) == load(LAB, ROOT).model_copy(update={"cluster": load("dev", ROOT).cluster})


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"base": "bases/none.yaml"}, "base: … 'bases/none.yaml' (No such file …); correct the path"),
        ({"base": "../lab.yaml"}, "base: '../lab.yaml' is outside of the project's folder …; move it"),
        ({"base": "/etc/lab.yaml"}, "base: '/etc/lab.yaml' is outside …; move it"),
        ({"base": 5}, "base: is not text (value: 5); write the path"),
        ({"base": ""}, "base: needs 1 or more characters (value: '')"),
        ({"base": "bases/empty.yaml"}, "base: 'bases/empty.yaml' has no settings; write them there"),
        ({"base": "bases/text.yaml"}, "bases/text.yaml:1:5: the text ends within brackets; close them"),
        (
            {"base": "bases/lab.yaml", "without": "stages"},
            "without: … (value: 'stages'); write a list",
        ),
        (
            {"base": "bases/lab.yaml", "without": ["gpu.mig"]},
            "without[0]: bases/lab.yaml has no gpu.mig; …",
        ),
        ({"without": ["stages"]}, "without: there is no base …; name one, or remove this"),
        ({"base": "./bases/../Pulumi.site.yaml"}, "Pulumi.site.yaml -> Pulumi.site.yaml: …; leave one out"),
        (
            {"base": "bases/a.yaml"},
            "bases/b.yaml: 1 wrong bases/b.yaml:1:7: base: bases/a.yaml -> bases/b.yaml -> bases/a.yaml: …; leave",
        ),
        ({"base": "bases/sealed.yaml"}, "bases/sealed.yaml: 1 wrong … state.backend: an encrypted value …; move it"),
    ],
)
def test_wrong_bases_are_refused(root: Path, settings: dict[str, Any], expected: str) -> None:
    """A base that cannot be used is refused by field, value and remedy; one that is its own base by the way there."""
    base(root, "a", {"base": "bases/b.yaml"})
    base(root, "b", {"base": "bases/a.yaml"})
    base(root, "empty", None)
    base(root, "sealed", {"base": "bases/lab.yaml", "state": {"backend": {"secure": "v1:abc"}}})
    (root / "bases" / "text.yaml").write_text("a: [")
    write(root, settings)
    expect_message(" ".join(message(root).split()), expected)


def test_a_wrong_value_is_named_by_the_file_that_has_it(root: Path) -> None:
    """Places are those in the file: of a list that merges, too, and of a base that has settings alone."""
    tenant = data(LAB)["tenants"][0]
    base(
        root,
        "site",
        {
            "base": "bases/lab.yaml",
            "without": ["nodes.master01.ocp4.scale.ibm.com"],
            "fabric": {"hca_max": 0},
            "tenants": [{**tenant, "namespace": "vision", "gpu_quota": "many"}],
            "nodes": [{"name": "dgx01.ocp4.scale.ibm.com", "free_gpu": 1}],
            "machines": ["machines/none.yaml"],
        },
    )
    write(root, {"base": "bases/site.yaml", "colour": "blue", "tenants": [{"namespace": "own"}]})
    expect_message(message(root), "\n  bases/site.yaml:5:3: machines[0]: … machines/none.yaml: cannot be read")
    content = yaml.safe_load((root / "bases" / "site.yaml").read_text())
    base(root, "site", {key: value for key, value in content.items() if key != "machines"})
    text = message(root)
    assert text.startswith("Pulumi.site.yaml: ")
    expect_message(text, "\n  bases/site.yaml:3:12: fabric.hca_max: … (value: 0)")
    expect_message(text, "\n  bases/site.yaml: … tenants[0].gpu_quota: … (value: 'many')")
    expect_message(text, "\n  bases/site.yaml: … nodes[0].free_gpu: …; did you mean free_gpus?")
    expect_message(text, "\n  Pulumi.site.yaml:4:5: colour: …; remove it")
    expect_message(text, "\n  Pulumi.site.yaml:6:7: tenants[0].mcs: …; add it")


def test_a_wrong_value_in_a_stacks_file_is_named_by_the_path_there(root: Path) -> None:
    """In a base that is a stack's file the path begins with the key of all settings."""
    file = root / "bases" / "lab.yaml"
    file.write_text(file.read_text().replace("machine: dgx1-v100-16gb", "machine: dgx9", 1))
    write(root, {"base": "bases/lab.yaml", "without": ["nodes.master01.ocp4.scale.ibm.com"]})
    expect_message(message(root), "\n  bases/lab.yaml:18:68: nodes[5].machine: … 'dgx9'; known")


def test_a_rule_names_the_base_that_its_setting_is_in(root: Path) -> None:
    """A rule across settings names the file of the setting that its message begins with."""
    base(root, "pool", {"base": "bases/lab.yaml", "machine_config_pool": "master"})
    write(root, {"base": "bases/pool.yaml"})
    expect_message(message(root), "\n  bases/pool.yaml:2:22: machine_config_pool")
    write(root, {"base": "bases/lab.yaml", "machine_config_pool": "master"})
    expect_message(message(root), "\n  Pulumi.site.yaml:4:26: machine_config_pool")


def test_layers_may_have_bases(root: Path) -> None:
    """Platform and tenants may each have a base; a file of tenants is found by a platform that only its base names."""
    shutil.copytree(ROOT / "stacks" / "bases", root / "stacks" / "bases")
    shutil.copy(ROOT / "stacks" / "examples" / "two-layers.yaml", root / "Pulumi.two-layers.yaml")
    tenants = data("two-layers-tenants")
    base(root, "tenants", {"platform": "two-layers", "pull_secret": tenants["pull_secret"]})
    write(root, {**{key: tenants[key] for key in ("tenants", "builds", "stages")}, "base": "bases/tenants.yaml"})
    expected = load("two-layers-tenants", ROOT).model_dump(exclude={"cluster"})
    assert load("site", root).model_dump(exclude={"cluster"}) == expected
    assert tenants_of("two-layers", root) == ["site"]
    base(root, "tenants", {"platform": "two-layers", "pull_secret": {"registry": "nvcr.io"}})
    expect_message(message(root), "\n  bases/tenants.yaml:3:3: pull_secret.registry: …; did you mean registries?")
    base(root, "tenants", {"platform": "two-layers"})
    file = root / "stacks" / "bases" / "today-queues.yaml"
    file.write_text(f"{file.read_text()}  launchers: {{cpus: 4, memory_gib: 8}}\n")
    tenants["stages"][1]["workloads"][0]["launcher"] = {"cpu": "400", "memory": "1Gi"}
    write(root, {**tenants, "base": "bases/tenants.yaml"})
    expect_message(message(root), "\n  stacks/bases/today-queues.yaml: … queues.launchers.cpus 4: …")


def test_the_base_is_that_of_the_same_checkout(root: Path) -> None:
    """A stack of another checkout, such as an older commit, is read with the base of that checkout."""
    file = root / "bases" / "lab.yaml"
    write(root, {"base": "bases/lab.yaml"})
    file.write_text(file.read_text().replace("redpaper-4.4", "older"))
    assert load("site", root).cluster.identifier == "older"


@pytest.mark.parametrize("stack", OURS)
def test_files_of_the_project_do_not_repeat_their_base(stack: str) -> None:
    """A value of a stack's own file is another than that of its base."""
    found = whole(stack, ROOT)
    if not found.files:
        return
    under = bases.whole({"base": found.files[0]}, "", ROOT).part
    assert found.part
    assert under
    theirs = {place: part.content for place, part in under.leaves}
    own = {place: part.content for place, part in found.part.leaves if part.file == found.source}
    assert own
    # What a file leaves out of its base, it writes anew.
    written = yaml.safe_load(file(stack, ROOT).read_text())["config"]["hpc:platform"]
    left_out = {path.partition(".")[0] for path in written.get("without", ())}
    own = {place: value for place, value in own.items() if place[0] not in left_out}
    assert [place for place, value in own.items() if place in theirs and theirs[place] == value] == []
