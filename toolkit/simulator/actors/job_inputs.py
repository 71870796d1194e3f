"""A pod's work as its programs find it: what was admitted, where it was placed, what the nodes' plugins gave."""

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from ipaddress import IPv4Address
from pathlib import Path

from core.apis import names as platform
from core.apis.quantity import amount
from core.hardware.profiles import Profile
from toolkit.simulator import names, pods
from toolkit.simulator.actors import gpus, images, launcher, multus, pod_devices
from toolkit.simulator.actors.api import Object
from toolkit.simulator.actors.launcher import together
from toolkit.simulator.actors.runtime import Runtime
from toolkit.simulator.home import Layout
from toolkit.simulator.performance.job import DEFAULT_SHM_MIB, ETHERNET_MTU, Launched, Machine, Worker, read_faults

SCALE_LABEL = "scale"
"""On nodes: `true` where they are clients of Spectrum Scale."""
OPERATORS_DRIVER, PEER_MEMORY = "driver", "nvidia-peermem-ctr"
"""Image of the driver of the GPU operator, and the container in which its pod loads nvidia-peermem."""
SHARED_MEMORY = "/dev/shm"  # noqa: S108 - where pods mount it
POD_NETWORK = IPv4Address("10.128.0.0")
PODS_OF_NETWORK = 2**18


def launched(pod: Object, runtime: Runtime, seconds: float) -> Launched:
    """Return what a pod is about to run, and with whom."""
    container = pod["spec"]["containers"][0]
    meta = pod["metadata"]
    leads = launcher.is_launcher(pod)
    slots = launcher.slots(launcher.hostfile(pod, runtime)) if leads else {}
    members = (runtime.pods.get(name, meta["namespace"]) for name in slots) if leads else together(pod, runtime)
    pods_of_job = [member for member in members if member is not None]
    ethernet = any(_networks(member) for member in (pod, *pods_of_job))
    nodes = {node["metadata"]["name"]: machine(node, runtime, on_ethernet=ethernet) for node in runtime.nodes.items()}
    here = nodes.get(pods.node_name(pod), Machine(pods.node_name(pod)))
    me = worker(pod, here, runtime)
    workers = [worker(member, nodes.get(pods.node_name(member), here), runtime) for member in pods_of_job]
    if not leads:
        # Without a hostfile mpirun takes the cores of its own host.
        slots = {me.name: here.profile.cpu_cores if here.profile else 1}
    return Launched(
        me=me,
        image=str(container.get("image", "")),
        words=(*(container.get("command") or []), *(container.get("args") or [])),
        run=str(meta.get("uid") or meta["name"]),
        workers=tuple(workers),
        slots=slots,
        processes=() if leads else (me,),
        environment=_variables(pod),
        peers=_peers(pod, nodes, runtime),
        machines=tuple(node for _, node in sorted(nodes.items()) if node.profile),
        started=datetime.now(UTC),
        seconds=seconds,
    )


def machine(node: Object, runtime: Runtime, *, on_ethernet: bool = False) -> Machine:
    """Return a node as programs see it; `on_ethernet`: they have interfaces over its ports, as for RoCE."""
    profile = runtime.profile(node)
    name = node["metadata"]["name"]
    if profile is None:
        return Machine(name, memlock_unlimited=pods.memlock_unlimited(node))
    running = runtime.running_on(name)
    ports = (*profile.hcas, *profile.storage_hcas)
    annotation = pods.annotations(node).get(names.INTERFACES)
    interfaces = json.loads(annotation) if annotation else [port.interface for port in ports]
    driver = next((pod for pod in running if pods.basename(pods.image(pod)) in images.GPU_DRIVERS), None)
    adapters = any(pods.basename(pods.image(pod)) in images.ADAPTER_DRIVERS for pod in running)
    return Machine(
        name,
        profile,
        interfaces=dict(zip((port.name for port in ports), interfaces, strict=False)),
        mtus=json.loads(pods.annotations(node).get(names.PORT_MTUS, "{}")),
        ports_down=frozenset(_strings(pods.annotations(node).get(names.PORTS_DOWN, "[]"))),
        memlock_unlimited=pods.memlock_unlimited(node),
        has_driver=gpus.has_driver(node, running),
        driver=gpus.driver_version(driver) if driver else None,
        gpudirect=_gpudirect(profile, driver),
        ethernet=on_ethernet or _is_ethernet(profile),
        storage_shared=pods.labels(node).get(SCALE_LABEL) == "true" and not profile.storage_ports,
        faults=read_faults(pods.annotations(node).get(names.FAULTS)),
        umad_for_all=not adapters,
    )


def _is_ethernet(profile: Profile) -> bool:
    """Return whether the ports are Ethernet's: the kernel calls interfaces of Ethernet eth... or en..."""
    named = (port.netdev for port in profile.hcas if port.netdev)
    return profile.link_layer == "Ethernet" or any(name.startswith(("eth", "en")) for name in named)


def _gpudirect(profile: Profile, driver: Object | None) -> bool:
    """Return whether HCAs reach the GPUs' memory: by the module beside a driver's container, or the kernel's DMA-BUF.

    Of a driver that is the host's own, or the first operators', the documents have the module on the host.
    """
    if driver is None or pods.basename(pods.image(driver)) != OPERATORS_DRIVER:
        return True
    beside = {container["name"] for container in driver["spec"]["containers"]}
    return PEER_MEMORY in beside or profile.architecture.peer_memory == "dma-buf"


def worker(pod: Object, here: Machine, runtime: Runtime) -> Worker:
    """Return a pod with what it was given on its node."""
    container = pod["spec"]["containers"][0]
    security = container.get("securityContext") or {}
    capabilities = (security.get("capabilities") or {}).get("add") or []
    user = security.get("runAsUser", (pod["spec"].get("securityContext") or {}).get("runAsUser"))
    meta = pod["metadata"]
    claims = _claim_folders(pod, Layout(runtime.settings.home).volumes)
    return Worker(
        name=meta["name"],
        machine=here,
        gpus=_gpus(pod, here, runtime.running_on(here.name)),
        devices=_devices(pod, here, runtime.running_on(here.name)),
        claims=_claims(pod),
        files={path: folder for path, folder in claims.items() if folder.is_dir()},
        claim_folders=claims,
        ipc_lock=platform.IPC_LOCK in capabilities or bool(security.get("privileged")),
        uid=user if isinstance(user, int) else None,
        host_network=bool(pod["spec"].get("hostNetwork")),
        shm_mib=_shared_memory_mib(pod),
        nvlink_domain=_nvlink_domain(pod, runtime.nodes.get(here.name)),
        mtu=runtime.pod_mtu,
        networks=tuple(f"{attachment.namespace}/{attachment.name}" for attachment in _networks(pod)),
        network_mtus=tuple(_network_mtu(attachment, here, runtime) for attachment in _networks(pod)),
        address=str((pod.get("status") or {}).get("podIP") or _address(meta)),
        environment=_script_variables(pod) | ({} if launcher.by_ssh(pod) else _variables(pod)),
    )


def _nvlink_domain(pod: Object, node: Object | None) -> str:
    """Return the ComputeDomain whose channel a pod has, with the rack of its node; empty where it has none of one."""
    clique = pods.annotations(node).get(names.NVLINK_CLIQUE, "") if node else ""
    domain = next((device.domain for device in pod_devices.devices(pod) if device.domain), "")
    return f"{domain} {clique}" if domain and clique else ""


def _claims(pod: Object) -> tuple[str, ...]:
    mounted = {mount["name"] for mount in pod["spec"]["containers"][0].get("volumeMounts") or []}
    volumes = (volume for volume in pod["spec"].get("volumes") or [] if volume["name"] in mounted)
    named = ((volume.get("persistentVolumeClaim") or {}).get("claimName") for volume in volumes)
    return tuple(name for name in named if name)


def _shared_memory_mib(pod: Object) -> int:
    mounts = pod["spec"]["containers"][0].get("volumeMounts") or []
    name = next((mount["name"] for mount in mounts if mount["mountPath"] == SHARED_MEMORY), None)
    volumes = (volume for volume in pod["spec"].get("volumes") or [] if volume["name"] == name)
    limits = (amount((volume.get("emptyDir") or {}).get("sizeLimit")) for volume in volumes)
    return next((int(limit / (1 << 20)) for limit in limits if limit), DEFAULT_SHM_MIB)


def _claim_folders(pod: Object, volumes: Path) -> dict[str, Path]:
    """Return where claims are mounted, with the folder on this machine that is mounted if it exists."""
    named = {volume["name"]: volume.get("persistentVolumeClaim") for volume in pod["spec"].get("volumes") or []}
    return {
        str(mount["mountPath"]): volumes
        / str(pod["metadata"]["namespace"])
        / str(claim["claimName"])
        / mount.get("subPath", "")
        for mount in pod["spec"]["containers"][0].get("volumeMounts") or []
        if (claim := named.get(mount["name"]))
    }


def _networks(pod: Object) -> Sequence[multus.Attachment]:
    try:
        return multus.attachments(pod)
    except multus.NetworkError:
        return ()


def _network_mtu(attachment: multus.Attachment, here: Machine, runtime: Runtime) -> int:
    """Return the MTU of a pod's interface: the network's, else that of the port below it."""
    definition = runtime.networks.get(attachment.name, attachment.namespace)
    config = json.loads(definition["spec"].get("config") or "{}") if definition else {}
    return int(config.get("mtu") or here.mtus.get(config.get("master", ""), ETHERNET_MTU))


def _variables(pod: Object) -> dict[str, str]:
    entries = pod["spec"]["containers"][0].get("env") or []
    return {entry["name"]: str(entry.get("value", "")) or _field(pod, entry) for entry in entries}


def _field(pod: Object, entry: Object) -> str:
    """Return a variable's value from the pod's labels or annotations; empty for what comes from elsewhere."""
    path = str(((entry.get("valueFrom") or {}).get("fieldRef") or {}).get("fieldPath", ""))
    where, _, name = path.removesuffix("']").partition("['")
    reader_of_path = {"metadata.labels": pods.labels, "metadata.annotations": pods.annotations}
    return str(reader_of_path[where](pod).get(name, "")) if where in reader_of_path else ""


def _script_variables(pod: Object) -> dict[str, str]:
    """Return the variables that a pod's own script finds, and gives to all ranks there: of RoCE the GID index."""
    return {"NCCL_IB_GID_INDEX": "3"} if "NCCL_IB_GID_INDEX" in pods.command(pod) else {}


def _gpus(pod: Object, here: Machine, running: Iterable[Object]) -> tuple[int, ...]:
    """Return the GPUs that the kubelet gave a pod: those of its claims, else of those that the plugin shares out.

    Of the latter any are as good.
    """
    if here.profile is None:
        return ()
    if claimed := pod_devices.gpus(pod):
        return claimed
    if pod_devices.has_instance(pod) or any(limit.startswith(platform.MIG_PREFIX) for limit in pods.limits(pod)):
        return (0,)  # of an instance CUDA sees one device
    requests = {_name(other): _limit(other, platform.GPU_RESOURCE) for other in (*running, pod)}
    free = [*range(here.profile.gpus)]
    for name, number in sorted(requests.items()):
        indices, free = free[:number], free[number:]
        if name == _name(pod):
            return tuple(indices)
    return ()


def _name(pod: Object) -> str:
    return str(pod["metadata"].get("uid") or pod["metadata"]["name"])


def _limit(pod: Object, resource: str) -> int:
    containers = pod["spec"]["containers"]
    limits = (((container.get("resources") or {}).get("limits") or {}).get(resource, 0) for container in containers)
    return sum(int(limit) for limit in limits if str(limit).isdecimal())


def _devices(pod: Object, here: Machine, running: Iterable[Object]) -> tuple[str, ...]:
    """Return the HCAs whose devices a pod has.

    The shared plugin offers what its configuration says, also where no port has the name (upstream issue 44).
    """
    behind: dict[str, list[str]] = {}
    for other in running:
        if pods.basename(pods.image(other)) in images.RDMA_PLUGINS | images.SRIOV_PLUGINS:
            behind |= json.loads(pods.annotations(other).get(names.RDMA_DEVICES, "{}"))
    hca_of = {interface: hca for hca, interface in here.interfaces.items()}
    requested = {name for name in pods.limits(pod) if _limit(pod, name)}
    allocated = requested & set(behind)
    have = {hca_of[interface] for resource in allocated for interface in behind[resource] if interface in hca_of}
    return tuple(hca.name for hca in here.hcas if hca.name in have)


def _peers(pod: Object, nodes: Mapping[str, Machine], runtime: Runtime) -> dict[str, Worker]:
    """Return the pods of other batch jobs: of each one that runs, else the last that ended since this one started.

    One that ended before is of an earlier run, which this pod did not meet.
    """
    workers: dict[str, Worker] = {}
    # A pod changes meanwhile, so the cache may have another copy of this one.
    own, namespace = pods.labels(pod).get(platform.JOB_NAME), pod["metadata"]["namespace"]
    since = str((pod.get("status") or {}).get("startTime") or "")
    neighbours = [member for member in runtime.pods.items() if member["metadata"].get("namespace") == namespace]
    for other in sorted(neighbours, key=lambda member: (pods.runs(member), pods.ended(member))):
        job = pods.labels(other).get(platform.JOB_NAME)
        if job and job != own and (pods.runs(other) or (since and pods.ended(other) >= since)):
            workers[job] = worker(other, nodes.get(pods.node_name(other), Machine(pods.node_name(other))), runtime)
    return workers


def _address(meta: Object) -> str:
    text = f"{meta.get('namespace')}/{meta['name']} {meta.get('uid')}"
    return str(POD_NETWORK + 2 + int.from_bytes(text.encode()[-4:]) % PODS_OF_NETWORK)


def _strings(text: str) -> list[str]:
    """Return the strings of a list in JSON; anything else means none."""
    try:
        document = json.loads(text)
    except ValueError:
        return []
    return [item for item in document if isinstance(item, str)] if isinstance(document, list) else []
