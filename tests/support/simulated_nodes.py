"""What the tools of a node print, simulated, as the pod of its Job would have it."""

from datetime import UTC, datetime

from core.hardware.profiles import Profile
from toolkit.cli.hardware import node_job
from toolkit.simulator.actors import features
from toolkit.simulator.performance import pod_commands
from toolkit.simulator.performance.job import Launched, Machine, Worker

NODE = "gpu01"
TODAY = "580.105.08"


def job_log(profile: Profile, *, driver: str | None = TODAY, gpus: int | None = None, host_network: bool = True) -> str:
    """Return the log of the Job of a node; `driver` None: the node has none."""
    return ran(profile, node_job.script(), driver=driver, gpus=gpus, host_network=host_network)


def ran(
    profile: Profile, script: str, *, driver: str | None = TODAY, gpus: int | None = None, host_network: bool = True
) -> str:
    """Return what a script prints in a pod on a node with this machine."""
    ethernet = profile.link_layer == "Ethernet"
    machine = Machine(NODE, profile, has_driver=driver is not None, driver=driver, ethernet=ethernet)
    numbers = tuple(range(profile.gpus if gpus is None else gpus))
    me = Worker("pod", machine, numbers, host_network=host_network)
    job = Launched(
        me=me,
        image="tools",
        words=("/bin/sh", "-c", script),
        run="test",
        workers=(me,),
        machines=(machine,),
        started=datetime(2026, 11, 23, 7, tzinfo=UTC),
    )
    return "".join(f"{line}\n" for line in pod_commands.simulate(job).lines)


def labels(profile: Profile) -> dict[str, str]:
    """Return the labels of feature discovery of a node, as our stacks of today configure it."""
    pci = {f"feature.node.kubernetes.io/pci-{vendor}.present": "true" for vendor in profile.pci_vendors}
    return {**features.gpu_labels(profile, "single", None), **pci, "kubernetes.io/hostname": NODE}
