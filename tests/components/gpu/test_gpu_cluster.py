"""GPUClusters: GPUs by claims."""

from components.gpu.gpu_cluster import GpuCluster, GpuClusterArgs, refused, spec
from components.gpu.gpu_operator import GpuDriver, GpuKind, GpuStack
from tests.conformance.schema import expect_conformity
from tests.support.declared import declared, faults, only
from tests.support.machines import A100_SXM4_40GB

ARGS = GpuClusterArgs(gpus=(GpuKind(gpu=A100_SXM4_40GB),), metrics="hpc-dcgm-metrics", compute_domains=True)


def test_it_has_the_shape_of_its_definition_and_passes_our_rules() -> None:
    """The object matches its definition, has the one name that it may have, and the policies have no finding."""
    made = declared(lambda: GpuCluster("gpus", ARGS))
    assert faults(made) == []
    cluster = only(made, "GPUCluster")
    expect_conformity(cluster)
    assert cluster["metadata"]["name"] == "gpu-cluster"


def test_the_exporter_says_which_pod_has_a_gpu() -> None:
    """Without labels and UIDs of pods it would know device plugins alone."""
    exporter = spec(ARGS)["dcgmExporter"]
    assert (exporter["enablePodLabels"], exporter["enablePodUID"], exporter["config"]["name"]) == (
        True,
        True,
        "hpc-dcgm-metrics",
    )


def test_what_it_does_not_serve_is_named_with_the_remedy() -> None:
    """It divides no GPUs, and its plugin needs a driver of branch 580."""
    mig, driver = refused(GpuStack(driver=GpuDriver(version="570.211.01"), mig="mixed"))
    assert mig.startswith("mig mixed: ")
    assert driver == (
        "driver.version 570.211.01: allocation dra needs branch 580 or later; give one, or set allocation device-plugin"
    )
    assert refused(GpuStack(driver=None)) == []
