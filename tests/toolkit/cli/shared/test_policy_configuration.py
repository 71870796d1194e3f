"""The rules' parameters that follow from a stack's settings, with a file over them."""

import json
from pathlib import Path
from textwrap import indent
from typing import Any

import pytest
import yaml

from components.operators.olm_operator import OlmOperatorArgs
from policies.configuration import Configuration, merge
from stacks.loading import settings as stack_settings
from stacks.settings.fabric import Ethernet
from stacks.settings.gpu import GpuOperatorSettings
from stacks.settings.platform import Settings
from tests.support.commands import finished
from tests.support.recorded import OURS, ROOT
from tests.support.stack_settings import changed, data
from tests.support.states import on_real_cluster
from toolkit.cli.ci import policy_config
from toolkit.cli.pulumi import command as pulumi
from toolkit.cli.shared.cluster_client import Cluster
from toolkit.cli.shared.engine import Engine
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.policy_configuration import configuration, settled
from toolkit.cli.shared.stack import read


def _file(folder: Path, content: Any) -> Path:
    path = folder / "policies.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def test_a_level_leaves_the_parameters(tmp_path: Path) -> None:
    """A file that only changes a rule's level leaves the parameters that follow from the settings."""
    own = configuration(read("dev").settings)
    found = settled(read("dev").settings, _file(tmp_path, {"gpu-limit": "advisory", "image-pinned": "disabled"}))
    assert found["gpu-limit"] == {**own["gpu-limit"], "enforcementLevel": "advisory"}
    assert found["image-pinned"] in ("disabled", {"enforcementLevel": "disabled"})
    assert {**found, "gpu-limit": 0, "image-pinned": 0} == {**own, "gpu-limit": 0, "image-pinned": 0}


def test_fields_of_the_file_win() -> None:
    """Parameters of the user's file override those that follow from the settings."""
    own = {"gpu-limit": {"maximum": 8, "other": 1}}
    assert merge(own, {"gpu-limit": {"maximum": 4}}) == {"gpu-limit": {"maximum": 4, "other": 1}}


def test_policies_of_the_settings(tmp_path: Path) -> None:
    """Parameters in the settings override what follows from the others, and a file overrides both."""
    given = {"image-registry": {"more": ["registry.acme.com"]}, "gpu-limit": {"maximum": 4}}
    settings = read("dev").settings.model_copy(update={"policies": given})
    found = configuration(settings)
    assert {rule: found[rule] for rule in given} == given
    assert settled(settings, _file(tmp_path, {"gpu-limit": {"maximum": 2}}))["gpu-limit"] == {"maximum": 2}


def test_rules_of_the_stacks_own() -> None:
    """The folders of own rules go with what is set for these rules; ours have theirs beside them."""
    given = {"rules": ("tests/policies/own_rules",), "team-label": {"label": "owner"}, "gpu-limit": {"maximum": 4}}
    found = configuration(read("dev").settings.model_copy(update={"policies": given}))
    assert found["gpu-limit"] == {"maximum": 4}
    assert found["own-rules"] == {
        "enforcementLevel": "mandatory",
        "folders": ["tests/policies/own_rules"],
        "parameters": {"team-label": {"label": "owner"}},
    }


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"image-registri": {}}, "policies.image-registri: .*image-registry"),
        ({"rules": ("no/such",)}, r"policies.rules\[0\]: no/such has no rule; write one"),
        ({"image-registry": {"mor": []}}, "policies.image-registry.mor: .*parameters: registries, more"),
    ],
)
def test_wrong_policies_of_the_settings(given: Any, words: str) -> None:
    """A rule or a parameter in the settings that does not exist is refused by its path."""
    with pytest.raises(Problem, match=words):
        configuration(read("dev").settings.model_copy(update={"policies": given}))


@pytest.mark.parametrize(
    ("policies", "words"),
    [
        ("gpu-limit: {maximum: x}", r"^Pulumi\.x\.yaml:4:28: policies.gpu-limit.maximum: is not a whole number"),
        ("gpu-limit: soft", r"^Pulumi\.x\.yaml:4:7: policies.gpu-limit.enforcementLevel: 'soft' is not one of"),
        ("rules: [ruls]", r"^Pulumi\.x\.yaml:4:15: policies.rules\[0\]: ruls has no rule; write one"),
    ],
)
def test_wrong_policies_have_their_place(policies: str, words: str, tmp_path: Path) -> None:
    """What is wrong with the setting of a rule is located in the stack's file."""
    data = {key: value for key, value in stack_settings.whole("dev", ROOT).data.items() if key != "policies"}
    whole = f"config:\n  hpc:platform:\n    policies:\n      {policies}\n{indent(yaml.safe_dump(data), '    ')}"
    (tmp_path / "Pulumi.x.yaml").write_text(whole)
    with pytest.raises(Problem, match=words):
        configuration(stack_settings.load("x", tmp_path))


def test_a_level_is_set_by_its_name() -> None:
    """A rule has its level alone, as in a file of the policies."""
    given = stack_settings.parse(changed("dev", policies={"gpu-limit": "disabled"}), "test")
    assert configuration(given)["gpu-limit"]["enforcementLevel"] == "disabled"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ({"gpu-limits": {"maximum": 4}}, "gpu-limit"),
        ({"gpu-limit": "soft"}, "soft"),
        ([], "an object"),
        ("{", "cannot be read"),
    ],
)
def test_a_wrong_file_is_named(content: Any, words: str, tmp_path: Path) -> None:
    """A faulty file is refused with its name and the fault."""
    with pytest.raises(Problem, match=rf"policies\.json: [\s\S]*{words}"):
        settled(read("dev").settings, _file(tmp_path, content))


def _today(**changes: Any) -> Settings:
    """Return dev's settings with others in place of some; DGX A100, whose GPUs can be divided."""
    dev = read("dev").settings
    nodes = [node.model_copy(update={"machine": "dgx-a100"} if node.machine else {}) for node in dev.nodes]
    return dev.model_copy(update={"release": "4.20", "nodes": tuple(nodes), **changes})


@pytest.mark.parametrize(("mig", "gpus", "pods"), [("none", 8, 8), ("single", 56, 56), ("mixed", 8, 56)])
def test_parts_of_gpus(mig: str, gpus: int, pods: int) -> None:
    """With GPUs that are divided, limits of a node count parts, for rdmaHcaMax and for pods."""
    operator = OlmOperatorArgs(namespace="gpus", package="gpus", channel="stable")
    given = {"enablement": "gpu-operator", "operator": operator, "driver": None, "mig": mig}
    found = configuration(_today(gpu=GpuOperatorSettings.model_validate(given)))
    assert found["gpu-limit"] == {"maximum": gpus}
    assert found["mpi-name"] == {"gpus_per_node": gpus}
    assert found["rdma-hca-max"] == {"pods_per_node": pods}


@pytest.mark.parametrize(
    ("pools", "pool"),
    [({}, "gpu"), ({"former": {"machine": "dgx-h100", "machine_config_pool": "worker", "tuning": None}}, None)],
)
def test_the_pool_of_nodes_with_rdma(pools: dict[str, Any], pool: str | None) -> None:
    """Locked memory is looked for on the pool whose nodes have RDMA, whichever is first; with several on any."""
    content = data("mixed")
    content["pools"] = dict(reversed(content["pools"].items())) | pools
    found = configuration(stack_settings.parse(content | ({"stages": []} if pools else {}), "test"))
    assert found["memlock-raised"].get("pool") == pool


def test_platform_without_rdma() -> None:
    """A platform over Ethernet has no names of InfiniBand devices in its parameters."""
    for nodes in (_today().nodes, read("dev").settings.nodes):
        found = configuration(_today(fabric=Ethernet(kind="ethernet"), nodes=nodes))
        assert found["nccl-environment"] == {"devices": {}}


@pytest.mark.parametrize(
    ("release", "kubernetes", "sccs"), [("3.11", "1.11", "4.4"), ("4.4", "1.17", "4.4"), ("4.20", "1.33", "current")]
)
def test_releases(release: str, kubernetes: str, sccs: str) -> None:
    """A stack is checked by the SCCs and versions of its own release, or of the next one that is simulated."""
    found = configuration(_today(release=release))
    assert found["api-served"] == {"kubernetes": kubernetes}
    assert {found[rule]["release"] for rule in found if "release" in found[rule]} == {sccs}


@pytest.mark.parametrize("stack", OURS)
def test_every_stack_has_a_configuration_that_the_rules_take(stack: str) -> None:
    """The rules accept the configuration of every stack of the project."""
    Configuration(configuration(read(stack).settings))


def test_configuration_for_plain_pulumi(tmp_path: Path) -> None:
    """The configuration that is printed for plain `pulumi` is the stack's, with that of a file over it."""
    file = _file(tmp_path, {"gpu-limit": {"maximum": 2}})
    _, output = finished(policy_config.command, "--stack", "prod", "--config", str(file))
    assert json.loads(output) == merge(configuration(read("prod").settings), {"gpu-limit": {"maximum": 2}})


def test_preview_of_a_real_cluster_that_does_not_answer(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A preview continues, with a warning, where a real cluster does not answer, as plain `pulumi preview` does."""
    given: list[str] = []

    def run_interactively(_: Engine, *arguments: str) -> int:
        given.extend(arguments)
        if "--policy-pack-config" in arguments:
            written = Path(arguments[arguments.index("--policy-pack-config") + 1]).read_text()
            assert json.loads(written) == configuration(real.settings)
        return 0

    def silent(_: Cluster, _path: str) -> None:
        raise Problem("the API server does not answer")

    real = on_real_cluster(read("prod"))
    monkeypatch.setattr("toolkit.cli.shared.stack.read", lambda *_: real)
    monkeypatch.setattr(Engine, "run_interactively", run_interactively)
    monkeypatch.setattr(Engine, "call", lambda *_, **__: "{}")
    monkeypatch.setattr(Cluster, "get", silent)
    monkeypatch.setattr("toolkit.engine.tools.find", lambda _name, **_: tmp_path / "pulumi")
    monkeypatch.setenv("PULUMI_CONFIG_PASSPHRASE", "x")
    status, output = finished(pulumi.command, "--stack", "prod", "preview", "--diff")
    assert status == 0, output
    assert given[:3] == ["preview", "--diff", "--policy-pack"]
    assert "warning: the API server does not answer" in output
    given.clear()
    assert finished(pulumi.command, "--stack", "prod", "preview", "--policy-pack", "own")[0] == 0
    assert given == ["preview", "--policy-pack", "own"], "a pack among the arguments replaces the policies"


def test_priorities_of_queues_that_the_stack_declares() -> None:
    """A stack that declares queues lets tenants name no WorkloadPriorityClass; without queues it is not known which."""
    settings = read("prod").settings
    assert settings.queues is not None
    assert configuration(settings)["kueue-admits"]["workload_priorities"] == []
    without = settings.model_copy(update={"queues": None})
    assert "workload_priorities" not in configuration(without).get("kueue-admits", {})
