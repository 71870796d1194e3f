"""What the steps of an upgrade change in the settings."""

from copy import deepcopy
from typing import Any

from tests.support.stack_settings import data
from toolkit.cli.upgrade.patches import Patch, patches
from toolkit.cli.upgrade.path import aims, plan

VERSIONS = {"openshift": "4.20", "gpu-operator": "25.10", "network-operator": "25.10", "gpu-driver": "575"}


def old() -> Any:
    """Return the settings of h200-infiniband with operators of 2025 on 4.20."""
    content = deepcopy(data("h200-infiniband"))
    content["release"] = "4.20"
    content["gpu"]["operator"] |= {"channel": "v25.10", "starting_csv": "gpu-operator-certified.v25.10.1"}
    content["gpu"]["driver"]["version"] = "575.57.08"
    plugin = content["fabric"]["plugin"]
    plugin["operator"]["channel"] = "v25.10"
    plugin["shared"]["version"] = "network-operator-v25.10.0"
    plugin["driver"]["version"] = "doca3.2.0-25.10-1.2.8.0-2"
    return content


def changes(aim: Any = None) -> list[Patch]:
    """Return the patches on the way to 4.22."""
    return [*patches(plan(VERSIONS, aims(VERSIONS, "4.22")), old(), "the test", aim)]


def test_each_step_changes_what_goes_with_a_version() -> None:
    """Channels, images and drivers change with their operators, `release` with OpenShift; the settings stay valid."""
    made = changes()
    assert [patch.problems for patch in made] == [""] * 7
    first, second, network = made[:3]
    assert first.values == {
        "gpu.operator.channel": "v26.3",
        "gpu.operator.starting_csv": None,
        "gpu.driver.version": "580.178.04",
    }
    assert second.values == {"gpu.operator.channel": "v26.7"}
    assert network.values == {
        "fabric.plugin.operator.channel": "v26.1",
        "fabric.plugin.shared.version": "network-operator-v26.1.2",
        "fabric.plugin.driver.version": "doca3.3.0-26.01-1.0.0.0-6",
    }
    assert [patch.values for patch in made[-2:]] == [{"release": "4.21"}, {"release": "4.22"}]


def test_the_last_step_takes_the_values_that_are_aimed_at() -> None:
    """Where settings are aimed at, the last step of a component has their values."""
    aim = deepcopy(data("h200-infiniband"))
    aim["fabric"]["plugin"]["operator"]["channel"] = "v26.7"
    aim["fabric"]["plugin"]["shared"]["version"] = "network-operator-v26.7.1"
    network = changes(aim)[4]
    assert network.values["fabric.plugin.shared.version"] == "network-operator-v26.7.1"


def test_a_release_that_is_not_here_is_named_alone() -> None:
    """A release without a file changes no settings, and what follows it is judged as before."""
    running = {"openshift": "4.22", "mpi-operator": "0.7"}
    made = [*patches(plan(running, {"openshift": "5.0", "mpi-operator": "0.8"}), data("h200-infiniband"), "the test")]
    assert [patch.problems for patch in made] == [
        "release 5.0: this version of hpc has no file of it in stacks/releases",
        "",
    ]


def test_another_generation_has_no_patch() -> None:
    """From 4.4 no value alone leads to today's releases: the step has no patch, and its page is named."""
    steps = plan({"openshift": "4.4"}, {"openshift": "4.20"})
    assert [*patches(steps, data("dev"), "the test")] == [Patch({})]
    assert any("docs/guide/upgrade.md" in text for text in steps[0].step.before)


def test_settings_that_are_refused_on_the_way_are_named() -> None:
    """A step whose settings the release does not accept says why, as the settings' own rules do."""
    running = {"openshift": "4.20", "gpu-operator": "25.10"}
    (patch,) = patches(plan(running, running | {"openshift": "4.21"})[-1:], old(), "the test")
    assert patch.values == {"release": "4.21"}
    assert "gpu.operator.channel v25.10: GPU Operator 25.10 is not for OpenShift 4.21" in patch.problems
