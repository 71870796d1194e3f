"""The storage layer: Spectrum Scale, on the hosts or in pods, its classes, and each tenant's data."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pulumi

from components.base.model import fields_of
from components.storage.claim import Claim, ClaimArgs
from components.storage.scale_container_native import (
    ContainerNativeScale,
    ScaleContainerNative,
    ScaleContainerNativeArgs,
)
from components.storage.scale_csi import GuiAccount, ScaleClusters, ScaleCsi, ScaleCsiArgs
from components.storage.static_volume import StaticVolume, StaticVolumeArgs
from components.storage.storage_class import StorageClass, StorageClassArgs, StorageClassFields
from stacks.layers.host import SCALE_LABEL
from stacks.layers.operators import OfTenant, after, install
from stacks.settings.platform import Settings
from stacks.settings.resolved_pool import tolerations
from stacks.settings.storage import ClaimVolume, ContainerNativeStorage, DirectoryVolume, HostClientStorage, LocalVolume
from stacks.settings.tenants import TenantSettings


class Stored(NamedTuple):
    """The classes of the environment, by name, and names that are known when volumes can be had."""

    classes: Mapping[str, StorageClass]
    ready: Sequence[pulumi.Output[Any]]


def build(
    settings: Settings,
    accounts: pulumi.Output[dict[str, GuiAccount]],
    configured: Sequence[pulumi.Resource],
    opts: pulumi.ResourceOptions,
) -> Stored:
    """Declare driver and classes, where the environment has them; `accounts` maps secret names to the GUI accounts.

    `configured` are what clients in pods come after: the nodes' configuration, and the network's drivers.
    """
    storage = settings.storage
    if storage is None:
        return Stored({}, ())
    driver: ScaleCsi | ScaleContainerNative
    if isinstance(storage, ContainerNativeStorage):
        driver = _container_native(settings, storage, accounts, after(opts, *configured))
        ready = driver.file_system
    else:
        driver = _driver(settings, storage, accounts, opts)
        ready = driver.driver
    # The provider waits minutes for a claim, and an operator may take longer.
    served = after(opts, driver)
    classes = {
        storage_class.class_name: StorageClass(
            f"{storage_class.class_name}-storage",
            StorageClassArgs(**fields_of(StorageClassFields, storage_class), protect=settings.protect),
            opts=served,
        )
        for storage_class in storage.classes
    }
    return Stored(classes, [ready, *(storage_class.class_name for storage_class in classes.values())])


def data(
    settings: Settings,
    classes: Mapping[str, StorageClass],
    namespaces: Mapping[str, pulumi.Output[str]],
    opts: pulumi.ResourceOptions,
) -> list[OfTenant]:
    """Declare each tenant's volumes; return their claims. `namespaces` maps tenants to their namespaces' names.

    `classes` are those that the same stack declares.
    """
    return [
        OfTenant(tenant.namespace, name)
        for tenant in settings.tenants
        for volume in tenant.all_volumes
        for name in _volume(settings, tenant, volume, classes, namespace=namespaces[tenant.namespace], opts=opts)
    ]


def _driver(
    settings: Settings,
    storage: HostClientStorage,
    accounts: pulumi.Output[dict[str, GuiAccount]],
    opts: pulumi.ResourceOptions,
) -> ScaleCsi:
    generation = settings.version.scale_csi
    assert generation is not None  # noqa: S101 - releases without it refuse the storage settings
    operator = install("scale-csi-operator", storage.operator, settings, opts)
    clients = [pool for pool in settings.gpu_pools if pool.has_scale_clients]
    args = ScaleCsiArgs(
        installed=storage.operator.installed,
        generation=generation,
        namespace=storage.operator.namespace,
        **fields_of(ScaleClusters, storage),
        node_label=SCALE_LABEL,
        # The older driver has none, and `checks.taint` refuses what keeps it off.
        **(tolerations(ScaleCsiArgs, clients) if generation == "3" else {}),
        ready_timeout=settings.timeouts.operator,
        protect=settings.protect,
    )
    return ScaleCsi("scale-csi", args, accounts, opts=after(opts, operator))


def _container_native(
    settings: Settings,
    storage: ContainerNativeStorage,
    accounts: pulumi.Output[dict[str, GuiAccount]],
    opts: pulumi.ResourceOptions,
) -> ScaleContainerNative:
    args = ScaleContainerNativeArgs(
        **fields_of(ContainerNativeScale, storage),
        file_system=storage.file_system.name,
        network_driver=any(pool.brings_adapter_driver for pool in settings.gpu_pools),
        **tolerations(ScaleContainerNativeArgs, settings.gpu_pools),
        ready_timeout=settings.timeouts.operator,
        protect=settings.protect,
    )
    return ScaleContainerNative("scale", args, accounts, opts=opts)


def _volume(
    settings: Settings,
    tenant: TenantSettings,
    name: str,
    classes: Mapping[str, StorageClass],
    *,
    namespace: pulumi.Output[str],
    opts: pulumi.ResourceOptions,
) -> list[pulumi.Output[Any]]:
    """Declare one volume of a tenant; scratch volumes come with their pods."""
    volume = tenant.all_volumes[name]
    # No namespace has a dot: no two tenants get resources of one name.
    resource = f"{tenant.namespace}.{name}"
    match volume:
        case DirectoryVolume() if settings.storage:
            static = StaticVolumeArgs(
                volume_name=volume.volume,
                claim_name=volume.claim,
                handle=volume.handle(settings.storage),
                capacity=volume.capacity,
                labels=volume.labels,
                protect=settings.protect,
            )
            return [StaticVolume(resource, static, namespace, opts=opts).claim]
        case ClaimVolume() | LocalVolume():
            storage_class = classes.get(volume.storage_class)
            claim = ClaimArgs(
                claim_name=volume.claim,
                storage_class=volume.storage_class,
                capacity=volume.capacity,
                access_mode=volume.access_mode if isinstance(volume, ClaimVolume) else "ReadWriteOnce",
                protect=settings.protect,
            )
            return [Claim(resource, claim, namespace, opts=after(opts, storage_class) if storage_class else opts).claim]
        case _:
            return []
