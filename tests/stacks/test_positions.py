"""Errors of settings name file, line and column of the value, wherever the settings come from."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pulumi
import pytest

from stacks import environment
from stacks.loading import bases, field_places
from stacks.loading.settings import SettingsError, load, parse
from tests.support.recorded import ROOT
from tests.support.stack_settings import expect_message

FILE = "Pulumi.prod.yaml"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Give a project with the stack prod."""
    shutil.copytree(ROOT / "stacks" / "bases", tmp_path / "stacks" / "bases")
    shutil.copy(ROOT / FILE, tmp_path / FILE)
    return tmp_path


def at(root: Path, written: str, text: str, *, number: int = 1) -> str:
    """Write a text in place of the `number`-th one that is there, and return its position in the file."""
    file = root / FILE
    before = written.join(file.read_text().split(written)[:number])
    after = file.read_text()[len(before) + len(written) :]
    file.write_text(before + text + after)
    return f"{FILE}:{before.count(chr(10)) + 1}:{len(before) - before.rfind(chr(10))}"


def message(run: Callable[[], object]) -> str:
    """Return why settings are refused."""
    with pytest.raises(SettingsError) as caught:
        run()
    return str(caught.value)


def test_a_wrong_value_has_its_position(root: Path) -> None:
    """A value, an unknown key and what would hold a missing one are named as compilers name them."""
    unknown = at(root, "gpu_quota: 8", "gpu_quta: 8")
    tenant = at(root, "namespace: perception", "namespace: perception")
    wrong = at(root, "16\n", "many\n")
    text = message(lambda: load("prod", root))
    expect_message(text, f"\n  {wrong}: tenants[0].gpu_quota: is not a whole number (value: 'many'); write one")
    expect_message(text, f"\n  {unknown}: tenants[1].gpu_quta: is not a field …; did you mean gpu_quota?")
    expect_message(text, f"\n  {tenant}: tenants[1].gpu_quota: is missing; add it")


@pytest.mark.parametrize(
    ("written", "text", "value", "expected"),
    [
        ("{pods: 4, gpus: 8}", "{pods: 5, gpus: 8}", "{pods: 5, gpus: 8}", "stages: job nccl-test-05x08: layout 05x08"),
        (
            "s0:c28,c7",
            "s0:c27,c24",
            '"s0:c27,c24"\n        run_as_uid: 1075501000',
            "tenants: mcs 's0:c27,c24' is given",
        ),
        (
            "/mnt/ess3000/perception",
            "/mnt/ess3000/adas/a",
            "/mnt/ess3000/adas/a",
            "tenants: volumes.data.path /mnt/ess3000/adas/a",
        ),
        ("{tenant: adas, name", "{tenant: adass, name", "{tenant: adass", "builds: tensorflow has tenant 'adass'"),
    ],
)
def test_a_rule_has_the_position_of_its_setting(root: Path, written: str, text: str, value: str, expected: str) -> None:
    """A rule across settings is about a field of the job, the tenant or the build that its message names."""
    at(root, written, text)
    position = at(root, value, value)
    expect_message(message(lambda: load("prod", root)), f"\n  {position}: {expected}")


def test_the_engines_settings_have_the_positions_of_the_file(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings that the engine passes are looked up in the stack's file, unless it says something else there."""
    content = bases.content(root / FILE)
    content["tenants"][0]["gpu_quota"] = "many"
    monkeypatch.setattr(pulumi.Config, "get_object", lambda *_: content)
    monkeypatch.setattr(pulumi, "get_stack", lambda: "prod")
    assert "\n  tenants[0].gpu_quota: is not a whole number" in message(environment.load)
    wrong = at(root, "16\n", "many\n")
    text = message(lambda: parse(content, FILE, "prod", root))
    assert f"\n  {wrong}: tenants[0].gpu_quota: is not a whole number" in text


@pytest.mark.parametrize(
    ("problem", "place"),
    [
        ("tenants: gpu_quota 33 of perception exceeds the 32 GPUs", ("tenants", 1, "gpu_quota")),
        ("tenants: namespace 'adas' is given twice", ("tenants", 0, "namespace")),
        ("stages: job adas/nccl-test-04x08: layout 04x08 takes 32", ("stages", 1, "workloads", 0, "layout")),
        ("stages: job nccl-test-04x08: image a:1 has no sshd", ("stages", 1, "workloads", 0, "image")),
        ("nodes: roles master of dgx02.hpc.example.com keep", ("nodes", 7, "roles")),
        ("storage.classes: cluster_id 7 of scale-scratch is none", ("storage", "classes", 0, "cluster_id")),
        ("storage.classes[0].expandable: OpenShift 4.4", ("storage", "classes", 0, "expandable")),
        ("tenants: volumes.sets.capacity 1Ki of adas is less", ("tenants", 0, "volumes")),
        ("queues.launchers.cpus 4: job a", ("queues", "launchers", "cpus")),
        ("queues: the tenants' gpu_quota add up", ("queues",)),
        ("something else", ()),
    ],
)
def test_the_place_that_a_message_is_about(problem: str, place: tuple[str | int, ...]) -> None:
    """The settings that a message begins with lead to the entry that it names, and its field, as far as they go."""
    assert field_places.of_problem(problem, load("prod", ROOT)) == place
