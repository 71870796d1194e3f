"""The layout of a backend, from its files."""

from pathlib import Path

import pytest

from toolkit.cli.shared.backends import layout
from toolkit.cli.shared.backends.bucket import open_bucket
from toolkit.cli.shared.backends.bucket_setup import make
from toolkit.cli.shared.backends.layout import Layout
from toolkit.cli.shared.backends.store import FolderStore, Store

_META = ".pulumi/meta.yaml"
_STATE = ".pulumi/stacks/lab.json"


@pytest.fixture(params=["folder", "bucket"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    """Give an empty folder, and an empty bucket."""
    if request.param == "folder":
        return FolderStore(tmp_path)
    bucket = open_bucket(request.getfixturevalue("bucket_url"))
    make(bucket)
    return bucket


def test_an_empty_backend_gets_todays_layout(store: Store) -> None:
    """The engine writes today's layout into an empty backend."""
    arranged = layout.of(store)
    assert (arranged, arranged.refused, arranged.is_legacy) == (Layout(None, ()), False, False)


def test_states_by_project(store: Store) -> None:
    """Stacks in the folder of a project are of today's layout, and so are the files that the engine adds to them."""
    for key in (".pulumi/stacks/hpc/lab.json", ".pulumi/stacks/hpc/lab.pulumi-tags", f"{_STATE}.bak"):
        store.write(key, b"{}")
    store.write(_META, b"version: 1\n")
    arranged = layout.of(store)
    assert (arranged, arranged.refused) == (Layout(1, ()), False)


@pytest.mark.parametrize("meta", [None, b"version: 0\n"])
def test_legacy_states(store: Store, meta: bytes | None) -> None:
    """Stacks beside the folders of projects are of the legacy layout, packed or not; copies of them are none."""
    for key in (_STATE, f"{_STATE}.bak", f"{_STATE}.attrs", ".pulumi/stacks/old.json.gz", ".pulumi/stacks/new.yaml"):
        store.write(key, b"{}")
    if meta:
        store.write(_META, meta)
    arranged = layout.of(store)
    assert arranged.legacy == ("lab", "new", "old")
    assert (arranged.refused, arranged.is_legacy) == (True, True)


def test_legacy_states_beside_todays(store: Store) -> None:
    """Where the layout is today's, legacy states are ignored, and not refused."""
    store.write(_STATE, b"{}")
    store.write(_META, b"version: 1\n")
    arranged = layout.of(store)
    assert (arranged.legacy, arranged.refused, arranged.is_legacy) == (("lab",), False, False)


@pytest.mark.parametrize("meta", [b"", b"{}", b"version: true", b"version: one", b"[", b"\xff"])
def test_a_layout_without_a_number(store: Store, meta: bytes) -> None:
    """A damaged file of the layout is refused, and is not the legacy layout."""
    store.write(_STATE, b"{}")
    store.write(_META, meta)
    arranged = layout.of(store)
    assert (arranged.damaged, arranged.refused, arranged.is_legacy) == (True, True, False)


def test_a_layout_to_come(store: Store) -> None:
    """A later layout is refused."""
    store.write(_META, b"version: 2\n")
    arranged = layout.of(store)
    assert (arranged.version, arranged.refused, arranged.is_legacy) == (2, True, False)
