"""Which store is behind the URL of a backend."""

from dataclasses import replace
from pathlib import Path

import pytest

from cli.backends.backend import of_folder
from cli.backends.bucket import BucketStore
from cli.backends.opening import of_url
from cli.backends.store import FolderStore


def test_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A state looked for elsewhere than where the engine keeps it."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    for url in ("file://~", f"file://{tmp_path}?metadata=skip", "file://."):
        found = of_url(url)
        assert found is not None
        assert found.store == FolderStore(tmp_path)
        assert found.url == url
    spaced = tmp_path / "a b"
    assert of_url(of_folder(spaced).url) == replace(of_folder(spaced), own=False)


def test_others(bucket_keys: None) -> None:  # noqa: ARG001
    """Pulumi Cloud taken for a folder of that name."""
    assert of_url("https://api.pulumi.com") is None
    assert of_url("gs://state") is None
    found = of_url("s3://state/x?region=us-east-1")
    assert found is not None
    assert isinstance(found.store, BucketStore)
