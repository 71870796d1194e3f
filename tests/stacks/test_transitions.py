"""Ways between versions: what vendors support, need a stop for, or leave to hands."""

import shutil
from pathlib import Path

import pytest

from core.data_files import DataFileError
from stacks.releases import RELEASES
from stacks.transitions import COMPONENTS, FOLDER, OPENSHIFT, State, Verdict, load, of_product
from tests.support.messages import has

S, M, X, U = Verdict.SUPPORTED, Verdict.MANUAL, Verdict.UNSUPPORTED, Verdict.UNKNOWN
STEPS = [
    ("openshift", "4.19", "4.20", S, None),
    ("openshift", "4.18", "4.20", Verdict.STOP, "4.19"),
    ("openshift", "4.20", "4.22", Verdict.STOP, "4.21"),
    ("openshift", "4.19", "4.22", Verdict.STOP, "4.20"),
    ("openshift", "4.4", "4.20", M, None),
    ("openshift", "4.22", "5.0", U, None),
    ("openshift", "4.21", "4.20", X, None),
    ("openshift", "4.18.10", "4.18.22", X, None),
    ("openshift", "4.17.9", "4.18.25", X, None),
    ("openshift", "4.18.24", "4.18.27", S, None),
    ("openshift", "4.18.30", "4.19.8", X, None),
    ("openshift", "4.19.10", "4.19.14", M, None),
    ("openshift", "4.20.3", "4.20.5", M, None),
    ("openshift", "4.20.3", "4.21.5", X, None),
    ("openshift", "4.20.15", "4.21.5", S, None),
    ("openshift", "4.21.3", "4.21.9", M, None),
    ("openshift", "4.22.1", "4.22.4", M, None),
    ("gpu-operator", "25.3", "25.10", S, None),
    ("gpu-operator", "25.10", "26.3", S, None),
    ("gpu-operator", "25.10", "26.7", Verdict.STOP, "26.3"),
    ("gpu-operator", "24.9", "26.7", Verdict.STOP, "25.3"),
    ("gpu-operator", "26.3", "26.7", S, None),
    ("gpu-operator", "26.7", "26.3", U, None),
    ("gpu-driver", "535", "580", S, None),
    ("gpu-driver", "580", "595", S, None),
    ("gpu-driver", "595", "580", S, None),
    ("network-operator", "25.10", "26.1", S, None),
    ("network-operator", "25.10", "26.4", Verdict.STOP, "26.1"),
    ("network-operator", "26.1", "26.7", Verdict.STOP, "26.4"),
    ("network-operator", "26.4", "26.7", S, None),
    ("node-feature-discovery", "4.21", "4.22", S, None),
    ("node-feature-discovery", "4.4", "4.18", M, None),
    ("kueue", "0.13", "0.17", M, None),
    ("kueue", "0.15", "0.16", S, None),
    ("kueue", "0.16", "0.17", M, None),
    ("kueue", "0.18", "0.19", S, None),
    ("kueue", "0.19", "0.20", M, None),
    ("kueue-operator", "1.3", "1.4", U, None),
    ("jobset", "0.1", "1.0", U, None),
    ("trainer", "1.9", "2.2", M, None),
    ("trainer", "2.1", "2.2", M, None),
    ("trainer", "2.2", "2.3", S, None),
    ("trainer", "2.1", "2.4", Verdict.STOP, "2.3"),
    ("trainer", "2.3", "2.4", M, None),
    ("mpi-operator", "0.2", "0.8", M, None),
    ("mpi-operator", "0.3", "0.4", S, None),
    ("scale-container-native", "5.1.9", "5.2.2", M, None),
    ("scale-container-native", "5.2.2", "5.2.3", U, None),
    ("scale-container-native", "5.2.3.1", "6.0", U, None),
    ("scale-csi", "2.0", "2.14", M, None),
    ("cert-manager", "1.20", "1.21", S, None),
    ("cert-manager", "1.17", "1.21", Verdict.STOP, "1.18"),
    ("dra-driver", "0.4", "0.5", S, None),
]
"""File, version before and after, what its vendor says, and the stop."""


@pytest.mark.parametrize(("name", "source", "target", "verdict", "stop"), STEPS)
def test_a_step_has_the_verdict_of_its_vendor(
    name: str, source: str, target: str, verdict: Verdict, stop: str | None
) -> None:
    """Each step has the verdict and the stop of its vendor's rule, and says from where it is known."""
    step = COMPONENTS[name].step(source, target)
    assert (step.verdict, step.stop) == (verdict, stop), str(step)
    assert step.sources
    assert step.verdict is Verdict.SUPPORTED or step.reasons


def test_every_pair_that_releases_make_reachable_is_known() -> None:
    """Of each product that a release lists there is a file, which knows all pairs of its versions."""
    products = {product.name for release in RELEASES.values() for product in release.operators}
    for name in products:
        component = of_product(name)
        assert component, f"no file of stacks/transitions is about {name}"
        listed = {
            version for release in RELEASES.values() if (known := release.listed(name)) for version in known.versions
        }
        assert listed <= set(component.versions), name
    assert set(RELEASES) <= set(COMPONENTS[OPENSHIFT].versions)


def test_a_path_goes_by_all_stops() -> None:
    """From 24.9 the GPU Operator goes by each of its major versions to the newest."""
    path = COMPONENTS["gpu-operator"].path("24.9", "26.7")
    assert [step.target for step in path] == ["25.3", "25.10", "26.3", "26.7"]
    assert {step.verdict for step in path} == {Verdict.SUPPORTED}
    assert COMPONENTS["gpu-operator"].path("26.7", "26.7") == ()


def test_pools_are_paused_between_releases_with_extended_support_alone() -> None:
    """Between even releases that follow each other node pools stay paused, elsewhere they do not."""
    openshift = COMPONENTS[OPENSHIFT]
    assert [openshift.step(*ends).paused for ends in (("4.18", "4.20"), ("4.20", "4.22"), ("4.19", "4.21"))] == [
        True,
        True,
        False,
    ]


def test_patches_of_a_release_that_are_to_be_avoided_are_known() -> None:
    """For a step to a minor version, what is known of its patches is listed, and does not decide."""
    openshift = COMPONENTS[OPENSHIFT]
    assert openshift.step("4.20", "4.21").verdict is Verdict.SUPPORTED
    assert [transition.to for transition in openshift.patches("4.21")] == [">=4.21.0,<4.21.9", "==4.21.9"]
    assert [*openshift.patches("4.17")] == []


def test_vendors_states() -> None:
    """A version has the state that its vendor names; of one that is not in the file nothing is known."""
    operator = COMPONENTS["gpu-operator"]
    assert [operator.state(version) for version in ("25.10", "26.3", "26.7", "27.1")] == [
        State.ENDED,
        State.DEPRECATED,
        State.SUPPORTED,
        None,
    ]
    step = operator.step("26.7", "27.1")
    assert (step.verdict, step.reasons) == (Verdict.UNKNOWN, ("nothing is known here of version 27.1",))


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ('stop: "2.3"', "", "transitions[2] … verdict stop and stop None"),
        ('stop: "2.3"', 'stop: "2.9"', "transitions: stop 2.9 is none of the versions; add it"),
        ('from: "<2.0"', 'from: "before 2.0"', "transitions[0].from: write a range of versions as PEP 440 has it"),
        ("verdict: manual", "verdict: hard", "transitions[0].verdict: … 'manual'"),
        ('"2.4": {}', '"2.4": {}\n  "1.0": {}', "versions are not in order; write 1.0, 1.9, 2.0, 2.1, 2.2, 2.3, 2.4"),
    ],
)
def test_a_wrong_file_names_field_and_remedy(before: str, after: str, expected: str, tmp_path: Path) -> None:
    """A file that contradicts itself is refused with its path, field and remedy."""
    file = tmp_path / "trainer.yaml"
    shutil.copy(FOLDER / file.name, file)
    text = file.read_text()
    assert before in text
    file.write_text(text.replace(before, after, 1))
    with pytest.raises(DataFileError) as caught:
        load(tmp_path)["trainer"]
    assert has(str(caught.value), *expected.split(" … ")), str(caught.value)
