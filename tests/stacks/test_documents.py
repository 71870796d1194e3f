"""What the source documents ask of a stack, field by field, in the stacks that are theirs."""

from core.hardware.gpus import ARCHITECTURES
from stacks.loading.settings import load
from stacks.resolved.images import IMAGES
from tests.support.recorded import ROOT, built, environment, of_kind, only_object
from tests.support.stack_settings import data


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


def test_the_guides_licensed_image_can_be_the_base() -> None:
    """With the guide's base in the example, the build starts from it, and it is known to fit the machines."""
    base = "nvcr.io/nvaie/tensorflow:21.07-tf1-py3"
    content = data("nvaie-roce")
    content["builds"][0]["base"] = base
    (build,) = of_kind(built(content), "BuildConfig")
    assert build.inputs["spec"]["strategy"]["dockerStrategy"]["from"]["name"] == base
    assert IMAGES[base].unfit(ARCHITECTURES["ampere"], ssh=False) is None


def test_the_gpu_server_has_the_label_of_the_paper() -> None:
    """GPU nodes of OpenShift 3.11 have openshift.com/gpu-accelerator, which the device plugin selects, others not."""
    recorded = environment("supermicro-3.11")
    patches = {
        item.inputs["metadata"]["name"]: item.inputs["metadata"]["labels"] for item in of_kind(recorded, "NodePatch")
    }
    assert patches.keys() == {"gpu1.smc.example.com"}
    assert patches["gpu1.smc.example.com"]["openshift.com/gpu-accelerator"] == "true"
    plugin = only_object(recorded, "DaemonSet", "nvidia-device-plugin-daemonset").inputs["spec"]["template"]["spec"]
    assert plugin["nodeSelector"]["openshift.com/gpu-accelerator"] == "true"


def test_the_claim_of_the_paper_is_declared() -> None:
    """The claim has the paper's name, class, mode and size, and is bound to the paper's volume."""
    claim = only_object(environment("redpaper-4.4"), "PersistentVolumeClaim", "adas-data-pvc").inputs["spec"]
    assert claim["storageClassName"] == "static"
    assert claim["accessModes"] == ["ReadWriteMany"]
    assert claim["resources"]["requests"]["storage"] == "100Gi"
    assert claim["volumeName"] == "adas-data-pv01"


def test_the_csi_operator_starts_with_the_version_of_the_paper() -> None:
    """The subscription is of the certified catalogue, and starts with 2.0.0."""
    spec = only_object(environment("redpaper-4.4"), "Subscription", "ibm-spectrum-scale-csi-operator").inputs["spec"]
    assert spec["startingCSV"] == "ibm-spectrum-scale-csi-operator.v2.0.0"
    assert (spec["source"], spec["installPlanApproval"]) == ("certified-operators", "Automatic")


def test_another_store_is_reached_by_a_cache() -> None:
    """The Redpaper's platform of today has a class whose volumes cache a bucket or an export, read-only."""
    parameters = only_object(environment("redpaper-today"), "StorageClass", "scale-cache").inputs["parameters"]
    assert (parameters["volumeType"], parameters["cacheMode"]) == ("cache", "readonly")
    assert parameters["csi.storage.k8s.io/provisioner-secret-name"] == "${pvc.name}-secret"
