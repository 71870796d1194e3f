"""The provisioner beside the Spectrum Scale driver: makes volumes for claims of its StorageClasses."""

from functools import partial

from core.apis import kinds
from core.apis import names as platform
from core.apis.quantity import amount
from policies.views import volumes
from toolkit.simulator import names, pods
from toolkit.simulator.access.rbac import READ, Rule
from toolkit.simulator.actors import images, provisioning, scale_caches
from toolkit.simulator.actors.api import Object
from toolkit.simulator.actors.informer import Informer, Key
from toolkit.simulator.actors.podactor import PodActor
from toolkit.simulator.actors.volumes import started_with
from toolkit.simulator.scale_management import client
from toolkit.simulator.scale_management.client import GuiError
from toolkit.simulator.scale_management.state import file_system_uid

RULES = (
    Rule(("",), ("persistentvolumes",), (*READ, "create", "delete", "patch")),
    Rule(("",), ("persistentvolumeclaims",), (*READ, "update")),
    Rule(("storage.k8s.io",), ("storageclasses",), READ),
    Rule(("",), ("secrets",), ("get",)),
)
AGAIN_SECONDS = 2.0
CACHE_MODES = ("readonly", "parallel", "exclusive", "detached")
READ_ONLY = "ReadOnlyMany"


class ScaleProvisioner(PodActor):
    """Works while its own pod and a driver's pod run: the driver is who makes filesets."""

    _claims: Informer
    _volumes: Informer

    def start(self) -> None:
        """Watch claims and volumes."""
        loop = self.loop(self._provision)
        self._claims = self.watch(kinds.PERSISTENT_VOLUME_CLAIM, loop)
        released = self.loop(self._reclaim)
        self._volumes = self.watch(kinds.PERSISTENT_VOLUME, released)

    def _provision(self, key: Key) -> float | None:
        claim = self._claims.get(key[1], key[0])
        if claim is None or provisioning.asked_of(claim) != platform.SCALE_CSI_DRIVER:
            return None
        driver = self._driver()
        if driver is None:
            return AGAIN_SECONDS
        try:
            provisioning.provision(self.api, claim, platform.SCALE_CSI_DRIVER, partial(self.place, driver=driver))
        except (ValueError, GuiError) as error:
            self.log_line(
                f"E failed to provision volume with StorageClass {claim['spec']['storageClassName']!r}: {error}"
            )
            return AGAIN_SECONDS
        return None

    def place(self, claim: Object, storage_class: Object, driver: Object) -> Object:
        """Return where the files of a claim's volume are; a cache is made first, where its cluster has a GUI."""
        place = source(claim, storage_class, driver)
        handle = volumes.parse(place["csi"]["volumeHandle"])
        gui = client.of_cluster(self.runtime.settings.home, handle.cluster)
        if gui is None or not scale_caches.is_cache(storage_class):
            return place
        namespace, name = scale_caches.secret_of(claim, storage_class)
        secret = self.api.find(kinds.SECRET, name, namespace) if name and namespace else None
        if secret is None:
            raise ValueError(f"error getting secret {name} in namespace {namespace}: not found")
        scale_caches.make(
            gui,
            handle.fileset,
            storage_class["parameters"]["volBackendFs"],
            scale_caches.home_of(secret),
            mode=scale_caches.mode_of(claim, storage_class),
            size=int(amount(claim["spec"]["resources"]["requests"]["storage"]) or 0),
        )
        return place

    def _reclaim(self, key: Key) -> None:
        volume = self._volumes.get(key[1])
        if volume is None or not provisioning.reclaim(self.api, volume, platform.SCALE_CSI_DRIVER):
            return
        handle = volumes.parse(volume["spec"]["csi"]["volumeHandle"])
        gui = client.of_cluster(self.runtime.settings.home, handle.cluster)
        if gui is not None:
            try:
                scale_caches.remove(gui, handle.fileset, handle.file_system)
            except GuiError as error:
                self.log_line(f"E failed to delete the cache {handle.fileset}: {error}")

    def _driver(self) -> Object | None:
        drivers = images.CSI_DRIVERS[platform.SCALE_CSI_DRIVER]
        running = (pod for pod in self.runtime.pods.items() if pods.runs(pod))
        return next((started_with(pod) for pod in running if pods.basename(pods.image(pod)) in drivers), None)


def source(claim: Object, storage_class: Object, driver: Object) -> Object:
    """Return where the files of a claim's volume are: a fileset of its own on the file system of the class.

    Raise ValueError as the driver refuses: without a file system, for a cluster that it does not know, for an access
    mode that the class has no volumes of, and a cache without a gateway node. The UID of the file system is simulated:
    it comes from its name. Nothing is made here: `ScaleProvisioner.place` makes caches, where their cluster has a GUI.
    """
    parameters = storage_class.get("parameters") or {}
    file_system = parameters.get("volBackendFs")
    if not file_system:
        raise ValueError("volBackendFs must be specified in storageClass")
    cluster = parameters.get("clusterId") or driver["local"]
    if cluster not in driver["clusters"]:
        raise ValueError(f"unable to find cluster [{cluster}] details in custom resource")
    if fault := _refused(claim, storage_class):
        raise ValueError(fault)
    name = provisioning.volume_name(claim)
    identity = f"{cluster};{file_system_uid(file_system)}"
    kind = 2 if scale_caches.is_cache(storage_class) else 0
    handle = f"{kind};2;{identity};;{name};/{file_system}/{name}"
    if 7 not in driver["parts"]:  # noqa: PLR2004 - a driver of 2.0
        handle = f"{identity};filesetName={name};path=/{file_system}/{name}"
    return {"csi": {"driver": platform.SCALE_CSI_DRIVER, "volumeHandle": handle}}


def _refused(claim: Object, storage_class: Object) -> str | None:
    """Return why the driver makes no volume of a claim's access modes, in its words (controllerserver.go); else None.

    Which gateway nodes there are, only the storage cluster knows: it has one, unless an annotation denies it.
    """
    parameters = storage_class.get("parameters") or {}
    mode, caches = parameters.get("cacheMode", "").lower(), parameters.get("volumeType") == "cache"
    if mode and not caches:
        return 'The storage class parameter cacheMode can only be specified with volumeType="cache"'
    if mode not in ("", *CACHE_MODES):
        allowed = f"{', '.join(CACHE_MODES[:-1])} or {CACHE_MODES[-1]}"
        return f"Invalid cache mode is specified: {mode}, allowed cache modes are: {allowed}"
    if fault := next(
        filter(None, (_mode_fault(access_mode, mode, caches=caches) for access_mode in claim["spec"]["accessModes"])),
        None,
    ):
        return fault
    if caches and (storage_class["metadata"].get("annotations") or {}).get(names.GATEWAY) == "none":
        # As it is written there.
        return "Failed to the create a cache volume as there in no gateway node in the cluster"
    return None


def _mode_fault(access: str, mode: str, *, caches: bool) -> str | None:
    if access == READ_ONLY:
        if not caches:
            return "Volume source with Access Mode ReadOnlyMany is not supported"
        if mode not in ("", CACHE_MODES[0]):
            return "The volume access mode ReadOnlyMany is only supported with the cacheMode readonly"
    elif mode == CACHE_MODES[0]:
        return "The cacheMode readonly is only supported with the volume access mode ReadOnlyMany"
    return None
