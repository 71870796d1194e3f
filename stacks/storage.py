"""The storage layer: the Spectrum Scale driver and one volume per tenant."""

from collections.abc import Mapping

import pulumi

from components.scale_csi import GuiAccount, ScaleCsi, ScaleCsiArgs
from components.static_volume import StaticVolume, StaticVolumeArgs
from stacks.host import SCALE_LABEL
from stacks.operators import after, install
from stacks.settings import Settings


def build(
    settings: Settings,
    accounts: pulumi.Output[dict[str, GuiAccount]],
    namespaces: Mapping[str, pulumi.Input[str]],
    opts: pulumi.ResourceOptions,
) -> list[pulumi.Output[str]]:
    """Declare driver and volumes; return their names.

    `accounts` maps secret names to the GUI accounts, `namespaces` the tenants to their namespaces' names.
    """
    operator = install("scale-csi-operator", settings.operators.scale_csi, settings, opts)
    driver = ScaleCsi(
        "scale-csi",
        ScaleCsiArgs(
            namespace=settings.operators.scale_csi.namespace,
            host_path=settings.storage.host_path,
            clusters=settings.storage.clusters,
            ca_certificate=settings.storage.ca_certificate,
            node_label=SCALE_LABEL,
            protect=settings.protect,
        ),
        accounts,
        opts=after(operator, opts),
    )
    volumes = [
        StaticVolume(
            f"{tenant.namespace}-data",
            StaticVolumeArgs(
                volume_name=tenant.data.volume,
                claim_name=tenant.data.claim,
                handle=settings.handle(tenant),
                capacity=tenant.data.capacity,
                labels=tenant.data.labels,
                protect=settings.protect,
            ),
            namespaces[tenant.namespace],
            opts=opts,
        )
        for tenant in settings.tenants
    ]
    return [driver.driver, *(volume.claim for volume in volumes)]
