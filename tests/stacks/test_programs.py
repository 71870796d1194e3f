"""Programs of the source documents: each command line against the document that prints it."""

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from pydantic import ValidationError

from components.jobs.job_volumes import MountOptions
from components.jobs.layout import Layout
from stacks.programs import PROGRAMS, SCRIPTS, Program
from stacks.resolved.images import IMAGES
from tests.support.recorded import ROOT

EIGHT = Layout(pods=2, gpus=8)


def started(program: str, layout: Layout = EIGHT) -> str:
    """Return a command line as one text."""
    return " ".join(PROGRAMS[program].started(layout))


@pytest.mark.parametrize(
    ("program", "test"),
    [
        ("nccl-all-reduce", "all_reduce"),
        ("nccl-all-gather", "all_gather"),
        ("nccl-broadcast", "broadcast"),
        ("nccl-reduce", "reduce"),
        ("nccl-reduce-scatter", "reduce_scatter"),
    ],
)
def test_nccl_tests_drive_all_gpus_of_a_pod_from_one_process(program: str, test: str) -> None:
    """Sizes and processes are those of tables 4-1 to 4-3."""
    assert started(program) == f"/workspace/other/nccl/{test}_perf -b 8 -e 256M -f 2 -g 8"
    assert started(program, Layout(pods=16, gpus=1)).endswith("-g 1")
    assert PROGRAMS[program].processes(EIGHT) == 1
    assert not PROGRAMS[program].trains


def test_the_largest_message_is_a_setting() -> None:
    """Today's machines reach their bandwidth at larger messages than the Redpaper's."""
    entry = PROGRAMS["nccl-all-reduce"]
    assert " ".join(entry.started(EIGHT, largest_mib=16384)).endswith("-b 8 -e 16384M -f 2 -g 8")


def test_node_check_shows_the_machine_before_it_measures() -> None:
    """The node check prints the topology matrix before it measures."""
    assert PROGRAMS["node-check"].started(Layout(pods=1, gpus=8)) == (
        "/bin/bash",
        "-ec",
        "nvidia-smi; nvidia-smi topo -m; /workspace/other/nccl/all_reduce_perf -b 8 -e 256M -f 2 -g 8",
    )
    assert PROGRAMS["node-check"].kinds == ("job",)


@pytest.mark.parametrize("program", [name for name, one in PROGRAMS.items() if one.in_image])
def test_an_image_that_has_the_test_is_started_like_the_volume(program: str) -> None:
    """A test in an image is started with the same options as one on the volume."""
    entry = PROGRAMS[program]
    assert entry.on_volume
    assert entry.in_image
    there, brought = entry.started(EIGHT), entry.started(EIGHT, in_image=True)
    assert tuple(word.replace(entry.on_volume, entry.in_image) for word in there) == brought
    assert there != brought


def test_resnet50_is_the_redpapers() -> None:
    """The command line is the Redpaper's, with its batch size."""
    assert started("resnet50") == (
        "python /workspace/other/benchmarks/scripts/tf_cnn_benchmarks/tf_cnn_benchmarks.py"
        " --model=resnet50 --batch_size=64 --use_fp16=true --variable_update=horovod"
    )
    assert PROGRAMS["resnet50"].processes(EIGHT) == 8


def test_a2d2_is_the_redpapers() -> None:
    """The command line and folder are the Redpaper's."""
    entry = PROGRAMS["a2d2"]
    assert started("a2d2") == "python main.py --model_dir=ckpt --batch_size=16 --exec_mode=train --max_steps=16000"
    assert entry.working_directory == "/workspace/scripts/tf2_comparison/hvd"
    assert (entry.data.name, entry.data.size_gb) == ("A2D2", 92) if entry.data else False


def test_resnet50_with_xla_is_the_guides() -> None:
    """The run is the guide's, from a folder that no claim hides."""
    entry = PROGRAMS["resnet50-xla"]
    assert started("resnet50-xla") == (
        "python3 /opt/benchmarks/scripts/tf_cnn_benchmarks/tf_cnn_benchmarks.py"
        " --model resnet50 --batch_size 512 --use_fp16 --variable_update=horovod --xla=True"
    )
    assert not entry.mounts
    assert entry.gpu_memory_gb == 40
    assert {"E-47", "E-50"} <= _faults(entry)


def test_resnet50_of_nvidia_is_the_blogs_with_a_place_for_its_results() -> None:
    """/efs, where results go, is a volume."""
    entry = PROGRAMS["resnet50-nvidia"]
    assert started("resnet50-nvidia") == (
        "python nvidia-examples/resnet50v1.5/main.py --mode=training_benchmark --batch_size=128"
        " --num_iter=90 --iter_unit=epoch --results_dir=/efs"
    )
    assert entry.mounts == {"/efs": MountOptions()}
    assert "E-54" in _faults(entry)


def test_resnet101_is_the_blogs() -> None:
    """The program is the printed one, without a default image whose tag moves."""
    entry = PROGRAMS["resnet101"]
    assert started("resnet101") == (
        "python scripts/tf_cnn_benchmarks/tf_cnn_benchmarks.py --model=resnet101 --batch_size=64"
        " --variable_update=horovod"
    )
    assert entry.images == ()
    assert {"E-39", "E-53"} <= _faults(entry)


def test_horovodrun_starts_one_process_for_each_gpu_of_its_pod() -> None:
    """Horovodrun starts one process for each GPU of its pod."""
    assert started("pytorch-synthetic") == "horovodrun -np 8 python pytorch_synthetic_benchmark.py"
    assert " -np 2 " in started("pytorch-synthetic", Layout(pods=1, gpus=2))
    assert PROGRAMS["pytorch-synthetic"].kinds == ("job",)
    assert not PROGRAMS["pytorch-synthetic"].trains


@pytest.mark.parametrize(
    ("program", "data", "size_gb", "folder"),
    [
        ("mask-rcnn", "COCO 2017", 21, "coco2017"),
        ("ssd", "COCO 2017", 21, "coco2017"),
        ("gnmt", "WMT English-German", 56, "wmt"),
        ("transformer", "WMT English-German", 56, "wmt"),
    ],
)
def test_mlperf_reads_what_table_3_says(program: str, data: str, size_gb: int, folder: str) -> None:
    """Data sets have the sizes of table 3, and parameters are for eight GPUs."""
    entry = PROGRAMS[program]
    assert entry.data
    assert (entry.data.name, entry.data.size_gb) == (data, size_gb)
    assert entry.environment == {
        "INSLURM": "0",
        "NEXP": "1",
        "DATADIR": f"/data/{folder}",
        "LOGDIR": "/data/logs",
    }
    assert started(program) == "./run_and_time.sh"
    assert (entry.gpus, entry.gpu_memory_gb, entry.kinds) == (8, 32, ("job",))


def test_mask_rcnn_is_the_documents_pod_without_its_privilege() -> None:
    """The pod mounts claims, no folders of the node, and none over its program."""
    entry = PROGRAMS["mask-rcnn"]
    assert entry.working_directory == "/workspace/object_detection"
    assert entry.mounts == {"/data": MountOptions(), "/coco": MountOptions(folder="coco2017")}
    assert entry.require_cuda == "cuda>=5.0"
    assert entry.images == ()
    assert {"E-39", "E-40"} <= _faults(entry)


def test_cuda_vector_add_is_what_its_image_starts() -> None:
    """The smoke test uses the successor of the Supermicro reference's image."""
    entry = PROGRAMS["cuda-vector-add"]
    assert entry.command == ()
    assert entry.gpus == 1
    assert not PROGRAMS["cuda-vector-add"].trains
    assert "E-42" in _faults(entry)


def test_default_images_are_known_and_do_not_move() -> None:
    """Default images are known ones with fixed tags."""
    named = [reference for entry in PROGRAMS.values() for reference in entry.images]
    assert {*named} <= IMAGES.keys()
    assert not [reference for reference in named if reference.endswith(":latest")]


def test_claims_hide_no_program_of_an_image() -> None:
    """No claim is mounted over the programs of an NGC image, which are below /workspace."""
    for program, entry in PROGRAMS.items():
        folders: Sequence[str] = [entry.working_directory or "/workspace", *(w for w in entry.command if w[:1] == "/")]
        if "/workspace" in entry.mounts:
            assert [folder for folder in folders if folder.startswith("/workspace")], program
            assert not [word for word in entry.command if re.match(r"(scripts|nvidia-examples)/", word)], program


def test_every_entry_names_its_source() -> None:
    """Every entry names the source of its command line."""
    for entry in PROGRAMS.values():
        assert re.match(r"[RSNB]-\d", entry.source or "")


def test_python_names_no_program_of_the_documents() -> None:
    """A program is its file: no Python depends on its name, but parsers, what is simulated, and programs themselves."""
    names = [name for name, entry in PROGRAMS.items() if "torch" not in entry.kinds and name not in entry.prints]
    named = re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, names))})(?![\w-])")
    rooms = {path.name for path in ROOT.iterdir() if any(path.glob("**/*.py"))} - {"tests", ".venv"}
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for room in sorted(rooms)
        for path in sorted((ROOT / room).rglob("*.py"))
        if not any(map(path.is_relative_to, (ROOT / "toolkit/evidence/tools", ROOT / "toolkit/simulator", SCRIPTS)))
        for number, line in enumerate(path.read_text().splitlines(), start=1)
        if named.search(line)
    ]
    assert "a2d2" in names
    assert not found, "move these names into a data file:\n" + "\n".join(found)


def _faults(entry: Program) -> set[str]:
    return {*re.findall(r"E-\d+", entry.source or "")}


def test_what_is_on_the_volume_is_put_there(tmp_path: Path) -> None:
    """volume-programs builds and copies, with the pod's own shell, all that programs start from the volume."""
    entry = PROGRAMS["volume-programs"]
    volume, tools = tmp_path / "volume", tmp_path / "tools"
    tools.mkdir()
    (tools / "git").write_text(
        f'#!/bin/sh\necho "$@" >> {tmp_path}/calls\nfor target; do :; done\n'
        'mkdir -p "$target/scripts/tf_cnn_benchmarks" "$target/build"\n'
        'touch "$target/scripts/tf_cnn_benchmarks/tf_cnn_benchmarks.py"\n'
    )
    (tools / "make").write_text(
        f'#!/bin/sh\necho "$@" >> {tmp_path}/calls\n'
        'for test in all_gather all_reduce broadcast reduce reduce_scatter; do touch "$2/build/${test}_perf"; done\n'
    )
    for tool in tools.iterdir():
        tool.chmod(0o755)
    *shell, script = entry.started(Layout(pods=1, gpus=1))
    environment = {**entry.environment, "PATH": f"{tools}:/usr/bin:/bin", "TMPDIR": str(tmp_path)}
    for _ in range(2):
        words = [*shell, script.replace("/workspace", str(volume))]
        subprocess.run(words, env=environment, check=True, capture_output=True)
    calls = (tmp_path / "calls").read_text()
    assert "--branch v2.13.10 https://github.com/NVIDIA/nccl-tests" in calls
    assert "MPI=1" in calls
    started = [program for program in PROGRAMS.values() if program.on_volume]
    paths = {program.on_volume for program in started} | {
        word
        for program in PROGRAMS.values()
        for word in program.command
        if word.startswith("/workspace/other/") and " " not in word
    }
    assert len(paths) >= 6
    for path in paths:
        assert path
        assert (volume / path.removeprefix("/workspace/")).is_file(), path
    data = PROGRAMS["a2d2"].data
    assert data
    assert data.folder == "/workspace/dataset/a2d2_8channel"
    assert PROGRAMS["a2d2"].working_directory == "/workspace/scripts/tf2_comparison/hvd"
    assert {"dataset", "scripts"} <= {path.name for path in volume.iterdir()}


def test_data_outside_of_the_mounts_is_refused() -> None:
    """A program's data is in one of its mounts."""
    fields = {**PROGRAMS["a2d2"].model_dump(), "mounts": {"/other": ""}, "working_directory": None}
    with pytest.raises(
        ValidationError, match=r"data.folder /workspace/dataset/a2d2_8channel is in none of mounts: /other"
    ):
        Program.model_validate(fields)
