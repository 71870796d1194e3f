"""What rules see of a virtual machine of KubeVirt."""

from typing import Any

from policies.check import Checker
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj


def _machine(**spec: Any) -> Obj:
    content = {"runStrategy": "Always", "template": {"spec": spec}}
    return Obj({"apiVersion": "kubevirt.io/v1", "kind": "VirtualMachine", "metadata": {"name": "a"}, "spec": content})


def test_devices_are_requests() -> None:
    """Each device of a machine is one unit of its resource, beside what its domain requests."""
    devices = {
        "gpus": [{"deviceName": "nvidia.com/A"}, {"deviceName": "nvidia.com/A"}, {"claimName": "c"}],
        "hostDevices": [{"deviceName": "nvidia.com/B"}],
    }
    (pod,) = _machine(domain={"devices": devices, "resources": {"limits": {"nvidia.com/C": 1}}}).pods
    counts = {item.resource: item.count for item in pod.containers[0].requests if "/" in item.resource}
    assert counts == {"nvidia.com/A": 2, "nvidia.com/B": 1, "nvidia.com/C": 1}


def test_an_ordinary_machine_is_sound() -> None:
    """A machine without devices of its node has no finding of any rule."""
    machine = _machine(
        domain={"devices": {"disks": [{"name": "a", "disk": {"bus": "virtio"}}]}, "memory": {"guest": "4Gi"}},
        volumes=[{"name": "a", "persistentVolumeClaim": {"claimName": "a"}}],
        networks=[{"name": "default", "pod": {}}],
    )
    assert [*Checker().check([machine], Inventory([machine]))] == []


def test_odd_machines_raise_nothing() -> None:
    """Fields of other types than KubeVirt has make no pod, or one without devices."""
    odd: tuple[Any, ...] = (1, [], {}, {"gpus": 1}, {"gpus": [None, {"deviceName": 3}]})
    for value in odd:
        machine = _machine(domain={"devices": value}, volumes=value, networks=value)
        list(Checker().check([machine], Inventory([machine])))
    assert Obj({"apiVersion": "kubevirt.io/v1", "kind": "VirtualMachine", "spec": {"template": 1}}).pods == ()
