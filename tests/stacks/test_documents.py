"""What the source documents ask of a stack, field by field, in the stacks that are theirs."""

from stacks.loading.settings import load
from tests.support.recorded import ROOT, environment, of_kind


def test_both_series_of_the_redpaper_are_declared() -> None:
    """ResNet-50 runs on 1, 2, 4, 8 and 2 x 8 GPUs in pods of many, and on as many in pods of one; 1 GPU is in both."""
    jobs = {
        job.inputs["metadata"]["name"]: job.inputs["spec"] for job in of_kind(environment("redpaper-series"), "MPIJob")
    }
    many = ["01x01x01", "01x02x01", "01x04x01", "01x08x01", "02x08x02"]
    single = ["01x01x01", "02x01x01", "04x01x01", "08x01x01", "16x01x02"]
    assert jobs.keys() == {f"tf2-resnet50-{layout}" for layout in (*many, *single)}
    for layout in (*many, *single):
        pods, gpus, nodes = map(int, layout.split("x"))
        spec = jobs[f"tf2-resnet50-{layout}"]
        worker = spec["mpiReplicaSpecs"]["Worker"]
        pod = worker["template"]["spec"]
        command = spec["mpiReplicaSpecs"]["Launcher"]["template"]["spec"]["containers"][0]["command"]
        assert (worker["replicas"], spec["slotsPerWorker"]) == (pods, gpus)
        assert command[command.index("-np") + 1] == str(pods * gpus)
        assert pod["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] == str(gpus)
        assert "--model=resnet50" in command
        # Those of one machine are bound to it, as by the paper's nodeName.
        assert ("affinity" in pod) == (nodes == 1)
    assert load("redpaper-series", ROOT).objects, "with the pod for a look at the devices"
