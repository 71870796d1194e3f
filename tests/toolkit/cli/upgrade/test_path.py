"""In which order the steps of an upgrade come."""

from collections.abc import Iterable

from stacks.transitions import Verdict
from toolkit.cli.upgrade.path import Planned, aims, plan

OLD = {
    "openshift": "4.20",
    "node-feature-discovery": "4.20",
    "gpu-operator": "25.10",
    "network-operator": "25.10",
    "kueue-operator": "1.3",
    "gpu-driver": "580",
}


def names(steps: Iterable[Planned]) -> list[str]:
    """Return the steps, each with the release of OpenShift at which it is taken."""
    return [f"{planned.release}: {planned.component} {planned.step.name}" for planned in steps]


def test_operators_go_first_by_all_stops() -> None:
    """From 4.20 to 4.22 operators go on 4.20, by each major version, to what all three releases list."""
    steps = plan(OLD, aims(OLD, "4.22"))
    assert names(steps) == [
        "4.20: gpu-operator 25.10 to 26.3",
        "4.20: gpu-operator 26.3 to 26.7",
        "4.20: network-operator 25.10 to 26.1",
        "4.20: network-operator 26.1 to 26.4",
        "4.20: network-operator 26.4 to 26.7",
        "4.20: openshift 4.20 to 4.21",
        "4.21: openshift 4.21 to 4.22",
    ]
    assert {planned.verdict for planned in steps} == {Verdict.SUPPORTED}


def test_pools_are_paused_before_the_first_and_released_after_the_last_step() -> None:
    """Between two releases with extended support pools are paused first, and unpaused at the end."""
    first, second = plan({"openshift": "4.20"}, {"openshift": "4.22"})
    assert [planned.step.paused for planned in (first, second)] == [True, True]
    assert any("pause the pools" in text for text in first.step.before)
    assert not any("pause the pools" in text for text in second.step.before)
    assert any("unpause" in text for text in second.step.after)
    assert first.step.after == ()
    (alone,) = plan({"openshift": "4.21"}, {"openshift": "4.22"})
    assert not alone.step.paused


def test_operators_that_follow_the_release_are_no_steps_of_their_own() -> None:
    """Node Feature Discovery goes with OpenShift; from that of 4.4 it needs manual work."""
    (step,) = plan(OLD | {"gpu-operator": "26.7", "network-operator": "26.4"}, OLD | {"openshift": "4.21"})[-1:]
    assert "Node Feature Discovery goes to 4.21 by itself" in step.step.after
    old = {"openshift": "4.4", "node-feature-discovery": "4.4"}
    steps = plan(old, aims(old, "4.18"))
    assert names(steps)[:2] == ["4.4: openshift 4.4 to 4.18", "4.18: node-feature-discovery 4.4 to 4.18"]
    assert [planned.verdict for planned in steps[:2]] == [Verdict.MANUAL, Verdict.MANUAL]


def test_a_version_that_the_next_release_does_not_list_stands_in_the_way() -> None:
    """An operator that is to stay at a version without the next release is no step, and unsupported."""
    stay = {"openshift": "4.22", "gpu-operator": "25.10"}
    first, *_ = plan(stay | {"openshift": "4.20"}, stay)
    assert first.verdict is Verdict.UNSUPPORTED
    assert "GPU Operator 25.10 is not listed for OpenShift 4.21, which has 26.3, 26.7" in first.problem
    assert "4.20 and 4.21 and 4.22" in first.problem


def test_a_newer_operator_than_the_release_lists_comes_after_it() -> None:
    """What only the new release lists is brought when OpenShift has it."""
    steps = plan({"openshift": "4.19", "scale-csi": "2.14"}, {"openshift": "4.20", "scale-csi": "3.0"})
    assert names(steps) == ["4.19: openshift 4.19 to 4.20", "4.20: scale-csi 2.14 to 3.0"]


def test_aims_are_what_vendors_support_for_a_release() -> None:
    """A version stays that is listed and has full support; an ended or deprecated one goes to one that has it."""
    running = {"openshift": "4.20", "gpu-operator": "26.7", "network-operator": "26.4", "kueue-operator": "1.3"}
    assert aims(running, "4.22") == {
        "openshift": "4.22",
        "gpu-operator": "26.7",
        "network-operator": "26.7",
        "kueue-operator": "1.3",
    }


def test_nothing_to_do() -> None:
    """The same versions need no step; nor does a patch of a release where its minor version is aimed at."""
    assert plan(OLD, OLD) == ()
    assert plan({"openshift": "4.20.7"}, {"openshift": "4.20"}) == ()
