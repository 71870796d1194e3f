"""`./hpc data generate`, `index` and `stats`: from images to shares of classes."""

import json
import os
import shutil
from functools import partial
from pathlib import Path

import pytest
import yaml
from PIL import Image

from core.datasets.card import FOLDER
from tests.support.commands import finished
from toolkit.cli.data import generate, index, stats
from toolkit.cli.shared.errors import Problem
from toolkit.datasets import generated
from toolkit.datasets.frames import FramesError
from toolkit.datasets.labels import LabelError
from toolkit.datasets.sqlite_catalogue import SqliteCatalogue

_index = partial(finished, index.command, "--card", "a2d2")
_stats, _generate = (partial(finished, module.command) for module in (stats, generate))


@pytest.fixture(scope="module")
def painted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with three frames of the generated data set, not to be changed."""
    folder = tmp_path_factory.mktemp("painted")
    for frame in generated.frames(generated.LEAST)[:3]:
        generated.write(folder, frame)
    return folder


@pytest.fixture
def folder(painted: Path, tmp_path: Path) -> Path:
    """Return a folder of the test's own with these frames."""
    return Path(shutil.copytree(painted, tmp_path / "a b\n"))


@pytest.fixture
def catalogue(folder: Path, tmp_path: Path) -> Path:
    """Return the catalogue of these frames."""
    status, output = _index(str(folder), "-o", str(tmp_path / "c.db"), "--processes", "1", "--platform", "IBM COS")
    assert (status, "3 frames, as of " in output) == (0, True)
    return tmp_path / "c.db"


def test_the_catalogue_has_the_pixels_of_the_labels(catalogue: Path) -> None:
    """Every class of every frame has the pixels that were painted, under the names that queries have."""
    source = SqliteCatalogue(catalogue)
    for frame in generated.frames(generated.LEAST)[:3]:
        tags = ", ".join(f'"{tag}"' for tag in frame.pixels)
        sql = f"select {tags}, platform, datasource from metaocean_view where filename = '{frame.image}'"  # noqa: S608
        assert source.ask(sql) == [(*map(str, frame.pixels.values()), "IBM COS", "a2d2")]
    assert source.ask("select count(*) from metaocean") == [("9",)]


def test_stats_as_a_table_and_as_json(catalogue: Path) -> None:
    """Shares are those of the pixels; classes below the bound are rare, and those of no frame are named."""
    frames = generated.frames(generated.LEAST)[:3]
    sky = sum(frame.pixels["sky"] for frame in frames)
    status, output = _stats(str(catalogue), "--json")
    found = json.loads(output)
    assert (status, found["card"], len(found["classes"])) == (0, "a2d2", 38)
    (share,) = (each for each in found["classes"] if each["tag"] == "sky")
    expected = {"name": "Sky", "tag": "sky", "frames": 3, "pixels": sky, "rare": False}
    assert {key: value for key, value in share.items() if key != "share"} == expected
    assert share["share"] == pytest.approx(100 * sky / 3 / 2_319_360)
    assert sum(each["share"] for each in found["classes"]) == pytest.approx(100)
    status, output = _stats(str(catalogue), "--rare", "1e-9")
    absent = sum(1 for each in found["classes"] if not each["frames"])
    assert absent > 0
    assert f"{absent} of 38 classes have less than 1e-09 % of the pixels" in output
    assert sum(line.rstrip().endswith("none") for line in output.splitlines()) == absent


def test_a_catalogue_older_than_the_files(catalogue: Path, folder: Path) -> None:
    """Where a file of the folder has changed, stats say so and how to go on, and go on where that is wanted."""
    label = next(folder.rglob("*_label_*.png"))
    os.utime(label, (1, 1))
    with pytest.raises(Problem) as error:
        _stats(str(catalogue))
    expected = ("older than the files", "1 changed", label.name, "./hpc data index", "--allow-stale")
    assert [part for part in expected if part not in str(error.value)] == []
    assert _stats(str(catalogue), "--allow-stale")[0] == 0
    folder.rename(folder.with_name("moved"))
    assert _stats(str(catalogue))[0] == 0


def test_nothing_is_half_written(catalogue: Path, folder: Path) -> None:
    """An unknown colour, or an image without label, ends the command and leaves the catalogue as it was."""
    before = catalogue.read_bytes()
    label = next(folder.rglob("*_label_*.png"))
    Image.new("RGB", (1920, 1208), (1, 2, 3)).save(label)
    with pytest.raises(LabelError, match=r"#010203 \(2319360 pixels\)") as error:
        _index(str(folder), "-o", str(catalogue))
    assert label.name in str(error.value)
    label.unlink()
    with pytest.raises(FramesError, match="1 images have no label"):
        _index(str(folder), "-o", str(catalogue))
    assert catalogue.read_bytes() == before
    assert [path for path in catalogue.parent.iterdir() if path not in (catalogue, folder)] == []


def test_files_of_no_frame_are_reported(folder: Path, tmp_path: Path) -> None:
    """Other files in the folder are left out, with a warning that counts them and names one."""
    (folder / "new\nline.txt").write_text("")
    _, output = _index(str(folder), "-o", str(tmp_path / "c.db"))
    assert "1 file belongs to no frame and is left out, e.g. 'new\\nline.txt'" in output


def test_a_card_of_the_users_own(folder: Path, tmp_path: Path) -> None:
    """A card that is a file of the user's is in the catalogue, so stats need no option; unknown ones are refused."""
    card = yaml.safe_load((FOLDER / "a2d2.yaml").read_text()) | {"title": "Ours"}
    (tmp_path / "ours.yaml").write_text(yaml.safe_dump(card))
    _index(str(folder), "-o", str(tmp_path / "c.db"), "--card", str(tmp_path / "ours.yaml"))
    assert "Ours, as of " in _stats(str(tmp_path / "c.db"))[1]
    with pytest.raises(Problem, match=r"(?s)no card is called 'a2d'.*Known: a2d2, cityscapes"):
        _index(str(folder), "--card", "a2d")
    with pytest.raises(Problem, match=r"gone\.yaml: cannot be read"):
        _index(str(folder), "--card", str(tmp_path / "gone.yaml"))


def test_a_folder_is_generated_once(tmp_path: Path) -> None:
    """A folder that has files is left as it is."""
    (tmp_path / "file").write_text("")
    for taken in (tmp_path, tmp_path / "file"):
        with pytest.raises(Problem, match=r"(?s)exists and is not empty.*Name a new folder"):
            _generate(str(taken))


def test_the_generated_folder_is_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All frames of a data set are painted, and the folder appears when they are."""
    some = generated.frames(generated.LEAST)[:2]
    monkeypatch.setattr(generated, "frames", lambda *_: some)
    status, output = _generate(str(tmp_path / "new"), "--seed", "3")
    assert (status, "2 frames, generated" in output) == (0, True)
    assert len([*(tmp_path / "new").rglob("*.*")]) == 6
    assert [path.name for path in tmp_path.iterdir()] == ["new"]
