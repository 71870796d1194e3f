"""The files of a check: which are read, and that none of them is a trap."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.toolkit.cli.check.samples import manifest
from toolkit.cli.check.sources import sources


def _tree(root: Path) -> None:
    for name in ("a.yaml", "b.yml", "c.json", "d.txt", ".hidden.yaml", "kustomization.yaml", "sub/e.yaml", "F.YAML"):
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text("{}")
    for folder in (".git", "chart/templates"):
        (root / folder).mkdir(parents=True)
        (root / folder / "x.yaml").write_text("{}")
    (root / "chart" / "Chart.yaml").write_text("name: x")


def test_folders(tmp_path: Path) -> None:
    """A folder's manifests are read once each; other files are skipped or noted."""
    _tree(tmp_path)
    found = list(sources([str(tmp_path), str(tmp_path / "a.yaml")]))
    names = {os.path.relpath(each.name, tmp_path): bool(each.note) for each in found}
    assert len(names) == len(found)
    assert names == {
        "a.yaml": False,
        "b.yml": False,
        "c.json": False,
        "F.YAML": False,
        "sub/e.yaml": False,
        "kustomization.yaml": True,
        "chart": True,
    }


def test_patches_are_no_objects(tmp_path: Path) -> None:
    """Patches of a kustomization are noted and not examined, unless the kustomization is broken."""
    (tmp_path / "overlay" / "sub").mkdir(parents=True)
    (tmp_path / "overlay" / "kustomization.yaml").write_text(
        "patches: [{path: a.yaml}, {patch: 'x: 1'}, null, {path: sub/b.yaml, target: {}}]\n"
        "patchesStrategicMerge:\n  - c.yaml\n  - |-\n    kind: Pod\n"
        "resources: [d.yaml]\n"
    )
    names = ("a.yaml", "sub/b.yaml", "c.yaml", "d.yaml", "sub/a.yaml", "E.YML")
    for name in names:
        (tmp_path / "overlay" / name).write_text(manifest())
    found = {os.path.relpath(each.name, tmp_path / "overlay"): each.note for each in sources([str(tmp_path)])}
    assert {name for name in names if "patch" in found[name]} == {"a.yaml", "sub/b.yaml", "c.yaml"}
    (alone,) = sources([str(tmp_path / "overlay" / "a.yaml")])
    assert "patch" in alone.note
    (tmp_path / "overlay" / "kustomization.yaml").write_text("patches: {{")
    (alone,) = sources([str(tmp_path / "overlay" / "a.yaml")])
    assert alone.content


def _outward(folder: Path) -> None:
    (folder / "out.yaml").symlink_to("/etc/hostname")


def _loop(folder: Path) -> None:
    (folder / "loop").symlink_to(folder)
    (folder / "self.yaml").symlink_to("self.yaml")


def _pipe(folder: Path) -> None:
    os.mkfifo(folder / "pipe.yaml")


def _device(folder: Path) -> None:
    (folder / "zero.yaml").symlink_to("/dev/zero")


@pytest.mark.timeout(10)
@pytest.mark.parametrize("make", [_outward, _loop, _pipe, _device])
def test_folders_hold_no_traps(tmp_path: Path, make: Callable[[Path], None]) -> None:
    """Links out of a folder, loops, pipes and devices are not read."""
    make(tmp_path)
    assert all(each.content == b"" and (each.problem or each.note) for each in sources([str(tmp_path)]))


def test_unreadable_names(tmp_path: Path) -> None:
    """A name that cannot be read is a problem."""
    found = list(sources([str(tmp_path / "nope"), "a\0b", "/dev/null", str(tmp_path)]))
    assert ["cannot be read" in each.problem for each in found] == [True, True, False, False]
    assert "not a file" in found[2].problem
    assert "has no *.yaml" in found[3].note


def test_large_files_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file over the limit is refused."""
    monkeypatch.setattr("toolkit.cli.check.sources.LARGEST", 2**20)
    (tmp_path / "f.yaml").write_bytes(b"#" * (2**20 + 1))
    (found,) = sources([str(tmp_path / "f.yaml")])
    assert "larger than" in found.problem
    assert found.content == b""
