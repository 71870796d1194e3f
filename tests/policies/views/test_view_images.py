"""References to images."""

import pytest

from policies.views.images import Image, parse

DIGEST = f"sha256:{'0' * 64}"


@pytest.mark.parametrize(
    ("reference", "image"),
    [
        ("nvcr.io/nvidia/tensorflow:20.03-tf2-py3", Image("nvcr.io", "nvidia/tensorflow", "20.03-tf2-py3")),
        ("mellanox/tools", Image("", "mellanox/tools")),
        ("ubuntu:20.04", Image("", "ubuntu", "20.04")),
        ("localhost:5000/a", Image("localhost:5000", "a")),
        ("localhost/a", Image("localhost", "a")),
        (f"quay.io/a/b:1@{DIGEST}", Image("quay.io", "a/b", "1", DIGEST)),
    ],
)
def test_parts(reference: str, image: Image) -> None:
    """References are divided into registry, organisation, name, tag and digest."""
    assert parse(reference) == image


@pytest.mark.parametrize(
    ("reference", "home"),
    [
        ("ubuntu", "docker.io/library/ubuntu"),
        ("mellanox/tools:1", "docker.io/mellanox/tools"),
        ("quay.io/a/b@sha256:1", "quay.io/a/b"),
    ],
)
def test_home(reference: str, home: str) -> None:
    """A short name has no registry."""
    assert parse(reference).home == home


@pytest.mark.parametrize("reference", ["", ":", "@", "/", "a//b", "a:", "a@", "A/b", "a b", "a" * 10_000, "a-" * 200])
def test_faults(reference: str) -> None:
    """A reference that no runtime pulls is not pinned."""
    assert parse(reference).fault
