"""The RDMA layer: every HCA of the profile as a resource."""

import pulumi

from components.rdma_device_plugin import RdmaDevice, RdmaDevicePlugin, RdmaDevicePluginArgs
from stacks.settings import Settings


def build(settings: Settings, opts: pulumi.ResourceOptions) -> pulumi.Output[list[str]]:
    """Declare the shared device plugin; return the resource names that it offers."""
    devices = tuple(
        RdmaDevice(resource_name=resource, hca_max=settings.rdma.hca_max, devices=(hca.netdev,))
        for resource, hca in zip(settings.rdma_resources, settings.profile.hcas, strict=True)
    )
    plugin = RdmaDevicePlugin(
        "rdma-device-plugin", RdmaDevicePluginArgs(devices=devices, image=settings.rdma.image), opts=opts
    )
    return plugin.resources
