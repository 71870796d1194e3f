"""The reader of data sets (stacks/scripts/data_set.py) on real files, as pods start it."""

import ast
import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from stacks.programs import SCRIPTS
from toolkit.datasets import file_list
from toolkit.datasets.file_list import File

NAMES = ("a b/é\x85.png", "a/label/one.png", "a/one.png", "z.json")
"""A blank, a letter beyond ASCII and a control sign, which names may have."""


class Volume:
    """A folder with a data set."""

    def __init__(self, root: Path, names: tuple[str, ...] = NAMES) -> None:
        self.root = root
        self.files = [File(name, 10 * number + 1) for number, name in enumerate(names)]
        for name, size in self.files:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_bytes(os.urandom(size))
        self.listed = file_list.text(self.files)
        self.digest = file_list.digest(self.listed)
        self.path = root / f".hpc/lists/{self.digest}.list"
        self.path.parent.mkdir(parents=True)
        self.path.write_bytes(self.listed)

    def run(self, what: str, *more: str, index: int | None = None, **changed: object) -> tuple[int, list[str]]:
        """Return the exit status and the lines of the reader."""
        size = sum(each.size for each in self.files)
        fixed = {"name": "x", "digest": self.digest, "root": self.root, "files": len(self.files), "bytes": size}
        options = [word for key, value in {**fixed, **changed}.items() for word in (f"--{key}", str(value))]
        environment = {"HOSTNAME": "pod-0", **({} if index is None else {"JOB_COMPLETION_INDEX": str(index)})}
        done = subprocess.run(
            [sys.executable, "-S", SCRIPTS / "data_set.py", what, *options, *more],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert not done.stderr
        return done.returncode, done.stdout.splitlines()


@pytest.fixture(name="volume")
def _volume(tmp_path: Path) -> Volume:
    return Volume(tmp_path / "volume")


def figures(line: str) -> dict[str, str]:
    """Return the figures of a line."""
    return dict(word.split("=", 1) for word in line.split() if "=" in word)


def test_a_pod_proves_that_it_sees_the_lock(volume: Volume) -> None:
    """The line has what the lock has, and the name of the pod."""
    code, (line,) = volume.run("check")
    found = figures(line)
    assert code == 0
    assert (found["digest"], found["files"], found["bytes"]) == (volume.digest, "4", "64")
    assert found["host"] == "pod-0"


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        (lambda volume: volume.path.unlink(), "list-missing"),
        (lambda volume: volume.path.write_bytes(volume.listed[:-1]), "digest-differs"),
        (lambda volume: (volume.root / "a/label/one.png").unlink(), "files-missing"),
        (lambda volume: (volume.root / "a/one.png").write_bytes(b"more bytes than there were"), "files-differ"),
    ],
)
@pytest.mark.parametrize("what", ["check", "stage"])
def test_what_differs_ends_it(volume: Volume, what: str, change: object, kind: str) -> None:
    """A list that is missing or another, and files that are missing or changed, are one clear line."""
    assert callable(change)
    change(volume)
    code, lines = volume.run(what)
    assert code == 1
    (line,) = lines
    assert line.startswith(f"hpc-data error kind={kind} ")


@pytest.mark.parametrize("path", ["/etc/hostname", "a/../../elsewhere"])
def test_a_list_leads_nowhere_else(volume: Volume, path: str) -> None:
    """Paths are the volume's own: another one is refused before it is read."""
    listed = f"{path}\t1\n".encode()
    digest = file_list.digest(listed)
    (volume.path.parent / f"{digest}.list").write_bytes(listed)
    code, (line,) = volume.run("check", digest=digest, files=1, bytes=1)
    assert (code, figures(line)) == (1, {"kind": "path-outside", "path": path})


def test_counts_of_another_lock(volume: Volume) -> None:
    """Counts that are not the list's are refused: a lock that was edited has them."""
    code, (line,) = volume.run("check", files=5)
    assert (code, figures(line)["kind"]) == (1, "counts-differ")


@pytest.mark.parametrize("slices", [1, 3, 7])
def test_slices_are_disjoint_and_complete(volume: Volume, slices: int) -> None:
    """Together all slices have each file once, whatever their number, also with more slices than files."""
    found = [figures(volume.run("stage", "--slices", str(slices), index=index)[1][0]) for index in range(slices)]
    lines = volume.listed.splitlines(keepends=True)
    expected = [hashlib.sha256(b"".join(lines[index::slices])).hexdigest() for index in range(slices)]
    assert [each["list"] for each in found] == expected
    assert sum(int(each["files"]) for each in found) == len(lines)
    assert sum(int(each["bytes"]) for each in found) == sum(each.size for each in volume.files)


def test_staging_digests_what_it_reads(volume: Volume) -> None:
    """The digest of contents is that of what sha256sum prints of the files; it is made where it is asked for."""
    assert "content" not in figures(volume.run("stage")[1][0])
    (line,) = volume.run("stage", "--content")[1]
    sums = "".join(
        f"{hashlib.sha256((volume.root / name).read_bytes()).hexdigest()}  {name}\n" for name, _ in volume.files
    )
    assert figures(line)["content"] == hashlib.sha256(sums.encode()).hexdigest()


def map_all(volume: Volume, results: Path, slices: int = 3) -> None:
    """Run all slices of a map-reduce job."""
    for index in range(slices):
        own = ("--slices", str(slices), "--results", str(results), "--slice-list", str(results / f"{index}.list"))
        assert volume.run("slice", *own, index=index)[0] == 0


def test_the_reducer_proves_all_slices(volume: Volume, tmp_path: Path) -> None:
    """Each slice leaves its list for the program, and its proof for the reducer."""
    results = tmp_path / "results"
    results.mkdir()
    map_all(volume, results)
    together = [line for index in range(3) for line in (results / f"{index}.list").read_bytes().splitlines()]
    assert sorted(together) == sorted(volume.listed.splitlines())
    code, (line,) = volume.run("reduce", "--slices", "3", "--results", str(results))
    assert code == 0
    assert line == f"hpc-data reduced name=x digest={volume.digest} slices=3 files=4 bytes=64"


def test_the_reducer_refuses_what_is_not_whole(volume: Volume, tmp_path: Path) -> None:
    """A slice that is missing, or was another, is named."""
    results = tmp_path / "results"
    results.mkdir()
    map_all(volume, results)
    proofs = results / ".hpc-slices"
    (proofs / "1-of-3").write_text((proofs / "0-of-3").read_text())
    code, (line,) = volume.run("reduce", "--slices", "3", "--results", str(results))
    assert (code, figures(line)["kind"], figures(line)["slice"]) == (1, "slice-differs", "1/3")
    (proofs / "1-of-3").unlink()
    code, (line,) = volume.run("reduce", "--slices", "3", "--results", str(results))
    assert (code, figures(line)["kind"], figures(line)["slice"]) == (1, "slice-missing", "1/3")


def test_it_is_the_python_of_old_images() -> None:
    """Images of 2020 have Python 3.6: no later syntax, and no import that is not there."""
    text = (SCRIPTS / "data_set.py").read_text()
    assert ast.parse(text, feature_version=(3, 6))
    assert "from __future__" not in text
