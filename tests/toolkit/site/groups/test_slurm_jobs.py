"""Workloads as batch files, and the files of Enroot and Pyxis."""

import re
import subprocess
from pathlib import Path

import pytest

from stacks.loading import settings
from stacks.loading.settings import parse
from stacks.site import assembly as site
from stacks.site import jobs as site_jobs
from stacks.site.site import BatchJob, BatchMount
from tests.support import debian
from tests.support.messages import has
from tests.support.recorded import ROOT
from tests.support.stack_settings import data
from toolkit.site.groups import slurm
from toolkit.site.groups.slurm import GROUP
from toolkit.site.output import File, written

ENROOT_KEYS = {"LIBRARY", "SYSCONF", "RUNTIME", "CONFIG", "CACHE", "DATA", "TEMP"}
"""Of ENROOT_*_PATH (NVIDIA/enroot doc/configuration.md)."""
POD = settings.load("superpod-a100", ROOT)
SITE = site.of(POD, "superpod-a100", jobs=site_jobs.of(POD))
JOB = BatchJob(
    tenant="language",
    name="train",
    starter="torch",
    nodes=2,
    tasks=1,
    gpus=8,
    cpus=64,
    memory="512Gi",
    together=False,
    image="nvcr.io/nvidia/pytorch:24.03-py3",
    build=None,
    command=("train.py", "--name=a b"),
    working_directory="/workspace",
    environment={"NCCL_DEBUG": "INFO"},
    mounts=(BatchMount(at="/workspace", volume="data", folder="sets", read_only=True),),
    data_set=None,
)


def texts(*found: BatchJob, **scheduler: object) -> tuple[dict[str, str], str]:
    """Return the files of jobs by name, and what is open."""
    given = SITE.settings.scheduler
    assert given
    wanted = given.model_copy(update=scheduler)
    changed = SITE.model_copy(
        update={"jobs": found or SITE.jobs, "settings": SITE.settings.model_copy(update={"scheduler": wanted})}
    )
    files, missing = written(GROUP, changed)
    return {file.path: file.text for file in files}, "\n".join(f"{each.what}; {each.remedy}" for each in missing)


@pytest.mark.parametrize(
    ("image", "pyxis"),
    [
        ("nvcr.io/nvidia/pytorch:24.03-py3", "nvcr.io#nvidia/pytorch:24.03-py3"),
        ("mirror.example.com:5000/a/b:1", "mirror.example.com:5000#a/b:1"),
        ("library/ubuntu:22.04", "library/ubuntu:22.04"),
        ("ubuntu:22.04", "ubuntu:22.04"),
    ],
)
def test_images_in_enroots_form(image: str, pyxis: str) -> None:
    """The registry ends with #, and an image without one stays as it is."""
    assert slurm.pyxis_image(image) == pyxis


def test_a_pytorch_job_knows_its_peers() -> None:
    """Each node runs torchrun with its own rank, and containers are options of srun alone."""
    files, _ = texts(JOB)
    text = files["slurm/jobs/language/train.sbatch"]
    assert "PET_NODE_RANK=$SLURM_NODEID exec torchrun train.py" in text
    assert "--container-mounts=/lustre/language/sets:/workspace:ro" in text
    assert "--container-image='nvcr.io#nvidia/pytorch:24.03-py3'" in text
    assert "#SBATCH --container" not in text
    assert "#SBATCH --mem=512G" in text


def test_jobs_of_the_stack_have_the_variables_of_pods() -> None:
    """The batch file of an MPI job has NCCL's variables as its pods have them, and one leaf where they require it."""
    text = texts()[0]["slurm/jobs/language/nccl-test-20x08.sbatch"]
    assert "export NCCL_IB_HCA='=mlx5_0,mlx5_1" in text
    assert "export NCCL_COLLNET_ENABLE=1" in text
    assert "--mpi=pmix" in text
    assert "#SBATCH --switches=1" in text


@pytest.mark.parametrize(
    ("job", "scheduler", "said"),
    [
        (JOB, {"volumes": {}}, "volume data"),
        (JOB.model_copy(update={"build": "own"}), {}, "site.scheduler.images"),
        (JOB.model_copy(update={"image": None}), {}, "give the workload an image"),
        (JOB.model_copy(update={"data_set": "a2d2"}), {}, "data set a2d2"),
    ],
)
def test_a_job_that_lacks_something_is_open(job: BatchJob, scheduler: dict[str, object], said: str) -> None:
    """Without image, volume or proof of its data no file is written, and what is missing is named."""
    files, missing = texts(job, **scheduler)
    assert not [path for path in files if path.startswith("slurm/jobs/")]
    assert said in missing


def test_workloads_of_pods_alone_are_open() -> None:
    """Staging, inference by slices and the RDMA test have no batch file, and each is named with what to do."""
    wanted = {"controller": "login01", "partitions": [{"name": "batch"}]}
    stack = parse({**data("a2d2"), "site": {"scheduler": wanted}}, "test")
    missing = written(GROUP, site.of(stack, "a2d2", jobs=site_jobs.of(stack)))[1]
    said = [f"{each.what}; {each.remedy}" for each in missing]
    for name in ("stage-rare", "segment"):
        assert any(has(line, name, "batch file", "data set rare", "pods", "run it on the cluster") for line in said)
    open_lines = texts()[1].splitlines()
    assert any(has(line, "mofed-test-job", "batch file", "pods", "run its programs") for line in open_lines)


def test_enroots_folders_are_each_users_own() -> None:
    """Enroot's keys are known ones, its data is on the node's own disk, and without one the file is open."""
    files, _ = texts()
    keys = re.findall(r"^ENROOT_([A-Z]+)_PATH \S.*user-\$\(id -u\)$", files["slurm/enroot.conf"], re.MULTILINE)
    assert set(keys) <= ENROOT_KEYS
    assert len(keys) == len(files["slurm/enroot.conf"].splitlines())
    files, missing = texts(local_path=None)
    assert "slurm/enroot.conf" not in files
    assert "site.scheduler.local_path" in missing


def test_batch_files_pass_shellcheck() -> None:
    """A shell reads each batch file without a finding."""
    for path, text in {**texts(JOB)[0], **texts()[0]}.items():
        if path.endswith(".sbatch"):
            checker = [str(debian.program("shellcheck")), "--shell=bash", "-"]
            done = subprocess.run(
                checker, input=text, text=True, capture_output=True, env=debian.environment(), check=False
            )
            assert done.returncode == 0, done.stdout


def test_other_stacks_have_none() -> None:
    """Without `site.scheduler` nothing is written, and nothing is open."""
    assert written(GROUP, site.of(settings.load("h100-roce", ROOT), "h100-roce")) == ((), ())
    assert isinstance(next(GROUP.render(SITE)), File)


SRUN = """#!/bin/sh
echo "$*" >> "$CALLS"
case "$*" in
  *container-mounts*) echo 'PRETTY_NAME="Ubuntu 18.04.2 LTS"' ;;
  *container-image*) echo "PRETTY_NAME=\\"$CONTAINER\\"" ;;
  *) echo 'PRETTY_NAME="Ubuntu 18.04.2 LTS"' ;;
esac
"""


@pytest.mark.parametrize(
    ("container", "status", "expected"),
    [
        ("CentOS Linux 7 (Core)", 0, 'container: PRETTY_NAME="CentOS Linux 7 (Core)"'),
        ("Ubuntu 18.04.2 LTS", 1, "the container has the node's system"),
    ],
)
def test_a_container_has_a_system_of_its_own(tmp_path: Path, container: str, status: int, expected: str) -> None:
    """The script reads PRETTY_NAME on the node, in the container, and with the node's file; the first two differ."""
    files, _ = texts(JOB)
    script, srun = tmp_path / "containers.sbatch", tmp_path / "srun"
    script.write_text(files["slurm/containers.sbatch"])
    srun.write_text(SRUN)
    srun.chmod(0o755)
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin", "CALLS": str(tmp_path / "calls"), "CONTAINER": container}
    done = subprocess.run(["bash", script], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, expected in done.stdout + done.stderr) == (status, True)
    assert len((tmp_path / "calls").read_text().splitlines()) == 3
    assert "--container-image=nvcr.io#nvidia/pytorch:24.03-py3" in (tmp_path / "calls").read_text()


def test_images_are_unpacked_by_enroot_alone(tmp_path: Path) -> None:
    """Each image of the jobs is imported, created and started once by Enroot's own commands, and bundled on request."""
    files, _ = texts(JOB)
    script, enroot = tmp_path / "enroot-images.sh", tmp_path / "enroot"
    script.write_text(files["slurm/enroot-images.sh"])
    # Like Enroot: import writes the file, and list has what was created.
    enroot.write_text(
        '#!/bin/sh\necho "$*" >> calls\ncase $1 in\nimport) touch "$3" ;;\n'
        'create) echo "$3" >> created ;;\nlist) cat created 2>/dev/null || true ;;\nesac\n'
    )
    enroot.chmod(0o755)
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    for arguments in ([], ["bundle"]):
        subprocess.run(["bash", script, *arguments], cwd=tmp_path, env=environment, check=True)
    calls = [line for line in (tmp_path / "calls").read_text().splitlines() if line != "list"]
    image = "nvidia+pytorch+24.03-py3"
    assert calls == [
        f"import --output {image}.sqsh docker://nvcr.io#nvidia/pytorch:24.03-py3",
        f"create --name {image} {image}.sqsh",
        f"start {image} nvidia-smi -L",
        f"start {image} nvidia-smi -L",
        f"bundle --output {image}.run {image}.sqsh",
    ]
