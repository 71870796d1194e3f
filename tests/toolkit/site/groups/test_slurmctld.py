"""Slurm's files, as a real slurmctld and two slurmd read them."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.hardware.fabric import UNIT_NODES
from stacks.loading import settings
from stacks.site import assembly as site
from stacks.site import jobs as site_jobs
from stacks.site.site import Site
from tests.support.recorded import ROOT
from tests.support.slurm import Slurm, refused, running
from toolkit.site.groups.slurm import GROUP
from toolkit.site.output import written

pytestmark = pytest.mark.engine
HOSTS = ("dgx001", "dgx002")


def of(machines: int | None = None) -> Site:
    """Return the site of the SuperPOD, or of its first machines and the partition that has all of them."""
    pod = settings.load("superpod-a100", ROOT)
    found = site.of(pod, "superpod-a100", jobs=site_jobs.of(pod))
    scheduler = found.settings.scheduler
    assert scheduler
    if machines is None:
        return found
    given = found.settings.model_copy(
        update={"scheduler": scheduler.model_copy(update={"partitions": scheduler.partitions[:1]})}
    )
    return found.model_copy(update={"hosts": found.gpu_hosts[:machines], "settings": given})


def texts(found: Site) -> dict[str, str]:
    """Return the files by their names."""
    return {file.path.removeprefix("slurm/"): file.text for file in written(GROUP, found)[0]}


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Slurm]:
    """Run Slurm with two machines."""
    with running(texts(of(2)), tmp_path_factory.mktemp("slurm"), HOSTS) as slurm:
        yield slurm


def test_a_pod_has_its_nodes_partitions_and_units(tmp_path: Path) -> None:
    """All 140 machines are in their partitions, and each scalable unit is a switch of 20."""
    with running(texts(of()), tmp_path) as slurm:
        found = slurm.run("sinfo", "--noheader", "--format=%P %D %l %s").stdout.split("\n")
        topology = slurm.run("scontrol", "show", "topology").stdout
    assert [line.split()[:3] for line in found if line] == [["batch*", "140", "infinite"], ["unit", "20", "4:00:00"]]
    units = re.findall(r"SwitchName=pod1unit\d Level=0 \S+ Nodes=dgx\[(\d+)-(\d+)\]", topology)
    assert [int(last) - int(first) + 1 for first, last in units] == [UNIT_NODES] * 7
    assert "SwitchName=top Level=1" in topology


def test_lines_are_read_as_written(tmp_path: Path) -> None:
    """Slurmctld has each value of slurm.conf and cgroup.conf, but for three of the site's own machine."""
    files = texts(of())
    with running(files, tmp_path) as slurm:
        shown = slurm.run("scontrol", "show", "config").stdout
    values = {key.strip(): value for key, _, value in (line.partition("=") for line in shown.splitlines())}
    written_lines = [*files["slurm.conf"].splitlines(), *files["cgroup.conf"].splitlines()]
    plain = dict(line.split("=") for line in written_lines if line.count("=") == 1)
    other = {key for key, value in plain.items() if alike(value) != alike(values.get(key, ""))}
    assert other == {"SlurmctldHost", "SlurmUser", "StateSaveLocation"}
    assert len(plain) > 12


def alike(value: str) -> set[str]:
    """Return the words of a value, whose order and capitals Slurm does not keep."""
    return {*value.strip().lower().split(",")}


def test_nodes_have_the_gpus_and_cpus_of_their_machine(pair: Slurm) -> None:
    """A node of DGX A100 is two sockets of 64 cores with eight GPUs by type, each beside its cores."""
    node = pair.run("scontrol", "--details", "show", "node", HOSTS[0]).stdout
    for each in ("CPUTot=256", "Sockets=2", "CoresPerSocket=64", "ThreadsPerCore=2", "Gres=gpu:a100:8"):
        assert each in node.replace("(S:0-1)", "")
    assert "State=IDLE" in node


@pytest.mark.parametrize(
    ("options", "accepted"),
    [
        (("--nodes=2", "--gpus-per-node=a100:8"), True),
        (("--nodes=2", "--gpus-per-node=a100:9"), False),
        (("--nodes=2", "--gpus-per-node=h100:8"), False),
        (("--nodes=3",), False),
        (("--nodes=1", "--mem=1100G"), False),
    ],
)
def test_requests_are_judged(pair: Slurm, options: tuple[str, ...], accepted: bool) -> None:
    """What the machines have is accepted, and more GPUs, others, more nodes and more memory are not."""
    done = pair.run("sbatch", "--test-only", *options, "--wrap=hostname")
    assert (done.returncode == 0) is accepted, done.stderr


def test_written_jobs_are_accepted(pair: Slurm) -> None:
    """The stack's own job passes on two nodes in place of its twenty, and with the twenty it does not."""
    job = texts(of(2))["jobs/language/nccl-test-20x08.sbatch"]
    file = pair.folder / "job.sbatch"
    file.write_text(job)
    assert pair.run("sbatch", "--test-only", str(file)).returncode != 0
    file.write_text(job.replace("--nodes=20", "--nodes=2"))
    done = pair.run("sbatch", "--test-only", str(file))
    assert done.returncode == 0, done.stderr


def test_a_job_runs_on_both_nodes(pair: Slurm) -> None:
    """A job with all GPUs runs a task on each node."""
    command = "srun --nodes=2 --ntasks-per-node=1 sh -c 'echo $SLURMD_NODENAME'"
    done = pair.run("sbatch", "--wait", "--nodes=2", "--gpus-per-node=a100:8", "--output=out", f"--wrap={command}")
    assert done.returncode == 0, done.stderr
    assert sorted((pair.folder / "out").read_text().split()) == [*HOSTS]


@pytest.mark.parametrize(("good", "bad"), [("Gres=gpu", "Gress=gpu"), ("SelectType=", "SelectTipe=")])
def test_a_wrong_key_is_refused(good: str, bad: str, tmp_path: Path) -> None:
    """Slurmctld ends with the name of a key that it does not know."""
    files = texts(of())
    text = refused({**files, "slurm.conf": files["slurm.conf"].replace(good, bad, 1)}, tmp_path)
    assert bad.partition("=")[0] in text
