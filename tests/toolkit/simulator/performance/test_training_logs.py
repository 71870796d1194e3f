"""What training programs print, against the documents' results."""

from dataclasses import replace
from datetime import datetime

import pytest

from core.hardware.profiles import profile
from tests.support.machines import DGX1_V100_32GB, DGX_A100, SYS_4029GP_TVRT
from tests.toolkit.simulator.performance import jobs
from tests.toolkit.simulator.performance.jobs import launch
from toolkit.evidence.tools.deeplearningexamples import DeepLearningExamples
from toolkit.evidence.tools.horovod_synthetic import HorovodSynthetic
from toolkit.evidence.tools.mllog import MlLog
from toolkit.evidence.tools.tf_cnn_benchmarks import TfCnnBenchmarks
from toolkit.simulator.performance import examples, mlperf, pod_commands, tf_cnn
from toolkit.simulator.performance.job import Launched
from toolkit.simulator.performance.tf_cnn import synthetic

RESNET = ("tf_cnn_benchmarks.py", "--model=resnet50", "--batch_size=64", "--use_fp16=true", "--variable_update=horovod")
A2D2 = ("main.py", "--model_dir=ckpt", "--batch_size=16", "--exec_mode=train", "--max_steps=16000")


def _resnet(job: Launched, *more: str) -> TfCnnBenchmarks:
    (found,) = jobs.readings(tf_cnn.tf_cnn((*RESNET, *more), job).lines)
    assert isinstance(found, TfCnnBenchmarks)
    return found


def _total(job: Launched, *more: str) -> float:
    found = _resnet(job, *more).total_images_per_s
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("pods", "gpus", "nodes", "images"), [(1, 8, 1, 7096), (2, 8, 2, 13_745), (8, 1, 1, 5918), (16, 1, 2, 11_632)]
)
def test_resnet_is_as_fast_as_the_papers(pods: int, gpus: int, nodes: int, images: float) -> None:
    """On the Redpaper's machines the log has the Redpaper's rates."""
    found = _resnet(jobs.training(pods, gpus, nodes))
    assert found.complete, found.incomplete
    assert found.unread_total == 0
    assert found.total_images_per_s == pytest.approx(images, rel=0.012)
    assert (found.ranks, found.global_batch_size, len(found.totals)) == (pods * gpus, 64 * pods * gpus, pods * gpus)
    assert found.total_deviation is not None
    assert found.total_deviation < 0.002


def test_up_to_four_gpus_both_layouts_are_alike() -> None:
    """Pods of one GPU train as fast, as the Redpaper measured."""
    assert _total(jobs.training(4, 1, 1)) == pytest.approx(_total(jobs.training(1, 4, 1)))


def test_a_slow_network_shows() -> None:
    """Training over TCP is slower than over RDMA."""
    assert _total(jobs.training(2, 8, 2, NCCL_IB_DISABLE="1")) < 0.5 * _total(jobs.training(2, 8, 2))
    assert _total(jobs.training(1, 8, 1, NCCL_IB_DISABLE="1")) == _total(jobs.training(1, 8, 1))


def test_an_unknown_speed_is_said() -> None:
    """Where no source has a GPU's memory bandwidth, the log says whose rates it has."""
    job = jobs.training(1, 8, 1, profile("dgx-h100"))
    assert any("no source has the memory bandwidth of dgx-h100" in line for line in tf_cnn.tf_cnn(RESNET, job).lines)
    assert _total(job) == _total(jobs.training(1, 8, 1))


def test_other_gpus_and_xla_are_scaled() -> None:
    """A100 have figures of their own (1555 GB/s), and precision and XLA have their effect."""
    job = jobs.training(1, 8, 1, DGX_A100)
    assert _total(job) == pytest.approx(7096 * 1555 / 900, rel=0.012)
    assert _total(job, "--xla=True") > 1.2 * _total(job)
    assert _total(jobs.training(1, 8, 1), "--use_fp16=false") < 0.5 * 7096


def test_a_rank_without_gpu_ends_the_job() -> None:
    """More processes than GPUs fail the job (wrong -np)."""
    job = jobs.training(1, 8, 1)
    over = tf_cnn.tf_cnn(RESNET, replace(job, processes=(*job.processes, job.processes[0])))
    assert over.exit_code == 1
    assert "invalid GPU id '8'" in over.message


def test_what_nccl_cannot_join_does_not_train() -> None:
    """Training over InfiniBand fails where pods may not pin memory."""
    job = jobs.training(2, 8, 2, NCCL_DEBUG="INFO")
    bound = {one.name: replace(one, machine=replace(one.machine, memlock_unlimited=False)) for one in job.workers}
    for words, simulate in ((RESNET, tf_cnn.tf_cnn), (A2D2, examples.main), (("x.py",), synthetic)):
        failed = simulate(words, replace(job, processes=tuple(bound[one.name] for one in job.processes)))
        assert failed.exit_code != 0
        assert "ibv_reg_mr" in failed.message
        assert not any("images/sec" in line or "throughput" in line or "img/sec" in line for line in failed.lines)


def _seconds(job: Launched) -> float:
    lines = examples.main(A2D2, job).lines
    last = datetime.strptime(" ".join(lines[-1].split()[1:3]), "%Y-%m-%d %H:%M:%S.%f").astimezone(job.started.tzinfo)
    return (last.replace(tzinfo=None) - job.started.replace(tzinfo=None)).total_seconds()


@pytest.mark.parametrize(("pods", "nodes", "seconds"), [(8, 1, 1328), (16, 2, 740)])
def test_a2d2_takes_as_long_as_the_papers(pods: int, nodes: int, seconds: float) -> None:
    """The speed-up is the Redpaper's."""
    job = jobs.training(pods, 1, nodes)
    assert _seconds(job) == pytest.approx(seconds, rel=0.012)
    (found,) = jobs.readings(examples.main(A2D2, job).lines)
    assert isinstance(found, DeepLearningExamples)
    assert found.complete, found.incomplete
    assert found.unread_total == 0
    assert found.elapsed_s == pytest.approx(seconds, rel=0.012)


def test_nvidias_example_reads() -> None:
    """The log of 2019 can be parsed, and its rate is near NVIDIA's own on the same machine."""
    words = ("main.py", "--mode=training_benchmark", "--batch_size=128", "--num_iter=90", "--iter_unit=epoch")
    (found,) = jobs.readings(examples.main(words, jobs.training(1, 8, 1)).lines)
    assert isinstance(found, DeepLearningExamples)
    assert (found.complete, found.form, found.simulated) == (True, "nvlog", True)
    assert found.throughput_items_per_s == pytest.approx(2778.5, rel=0.012)
    (half,) = jobs.readings(examples.main((*words, "--use_tf_amp"), jobs.training(1, 8, 1)).lines)
    assert isinstance(half, DeepLearningExamples)
    assert half.throughput_items_per_s == pytest.approx(6209.9, rel=0.012)


def test_another_main_says_that_it_is_not_played() -> None:
    """A program of another name does not print the log of this one."""
    (line,) = examples.main(("main.py", "--epochs=3"), jobs.training(1, 8, 1)).lines
    assert line.startswith("simulated by hpc")


def test_the_synthetic_benchmark_reads() -> None:
    """The total is that of the devices."""
    (found,) = jobs.readings(synthetic(("pytorch_synthetic_benchmark.py",), jobs.training(1, 8, 1)).lines)
    assert isinstance(found, HorovodSynthetic)
    assert (found.complete, found.ranks, found.batch_size, len(found.iterations)) == (True, 8, 32, 10)
    assert found.total_deviation is not None
    assert found.total_deviation < 0.001


@pytest.mark.parametrize(
    ("image", "reference"), [("maskrcnn", 207.48), ("ssd", 22.36), ("gnmt", 20.55), ("transformer", 20.34)]
)
def test_mlperf_is_in_the_band(image: str, reference: float) -> None:
    """A run has the times of the Supermicro reference's machine and reaches its target."""
    there = jobs.machines(SYS_4029GP_TVRT)
    for run in ("one", "two", "three"):
        job = replace(jobs.rdma_test(there, gpus=tuple(range(8))), image=f"quay.io/lab/{image}:1", run=run)
        lines = mlperf.run_and_time(("./run_and_time.sh",), job).lines
        (found,) = (one for one in jobs.readings(lines) if isinstance(one, MlLog))
        assert (found.complete, found.status, found.form) == (True, "success", "MLL")
        assert found.minutes is not None
        assert -0.0614 < reference / found.minutes - 1 < 0.0230
        target = mlperf.BENCHMARKS["mask" if image == "maskrcnn" else image].target
        assert all(found.evaluations[-1].quality[name] >= least for name, least in target.items())


def test_a_long_run_is_cut_and_nonsense_is_not_believed() -> None:
    """No command line fills the disk with its log, or raises."""
    job = jobs.training(1, 2, 1)
    huge = "9" * 9
    for words in (
        (*RESNET, f"--num_batches={huge}"),
        (*RESNET, "--num_batches", "9" * 5000),
        (*RESNET, "--batch_size"),
    ):
        assert len(tf_cnn.tf_cnn(words, job).lines) < 5000
    assert len(examples.main(("main.py", "--exec_mode=train", f"--max_steps={huge}"), job).lines) < 5000
    assert len(synthetic(("x.py", "--num-iters", huge), job).lines) < 5000


def test_mlperf_needs_its_machine() -> None:
    """A benchmark needs its eight GPUs of 32 GB and a name."""
    named = "quay.io/lab/ssd:1"
    assert mlperf.run_and_time((), replace(jobs.rdma_test(gpus=tuple(range(8))), image=named)).exit_code == 1
    big = jobs.machines(DGX1_V100_32GB)
    assert mlperf.run_and_time((), replace(jobs.rdma_test(big, gpus=(0,)), image=named)).exit_code == 1
    (line,) = mlperf.run_and_time((), jobs.rdma_test(big, gpus=tuple(range(8)))).lines
    assert line.startswith("simulated by hpc")


def test_a_users_own_script_has_what_nccl_prints() -> None:
    """A script that is not simulated prints nothing itself; its ranks join over the job's GPUs."""
    words = ("mpirun", "-np", "2", "-x", "NCCL_DEBUG=INFO", "python", "/data/my_train.py", "--steps=5")
    (found,) = jobs.readings(pod_commands.simulate(replace(launch(2, 1), words=words)).lines)
    assert found.nccl
    assert [*found.nccl.between_nodes] == ["NET/IB"]
