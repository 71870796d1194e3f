"""The configuration of NCCL's network agrees with the RDMA devices that its container asks for."""

from collections.abc import Iterator
from typing import NamedTuple

from pydantic import Field

from core.apis import nccl
from core.apis.names import RDMA_PREFIX
from core.hardware.profiles import PROFILES
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.manifests.pods import Container, Pod
from policies.manifests.values import Path
from policies.rule import Parameters, Rule, Severity
from policies.views.command_lines import calls
from policies.views.devices import is_gpu, rdma
from policies.views.environment import variables

_PREFIX = "NCCL_"
_LEVEL = "NCCL_DEBUG"
_DISABLE, _HCA, _GDR_LEVEL = "NCCL_IB_DISABLE", "NCCL_IB_HCA", "NCCL_NET_GDR_LEVEL"
_ABOUT_DEVICES = frozenset({_DISABLE, _HCA, _GDR_LEVEL})
_DEBUG = "Set NCCL_DEBUG to INFO for a verification and to WARN, or not at all, for a job"


class NcclEnvironment(Parameters):
    """The platform's devices, and which settings its jobs may change."""

    devices: dict[str, str] = Field(
        default={
            f"{RDMA_PREFIX}shared_{netdev}": hca.name
            for profile in PROFILES.values()
            for hca in profile.hcas
            for netdev in (hca.netdev, hca.ethernet)
            if netdev
        },
        description="verbs device of each RDMA resource; default: of the known machines",
    )
    debug: tuple[str, ...] = Field(
        default=("VERSION", "WARN", "ABORT", "INFO"),
        description="levels of NCCL_DEBUG that jobs may set; a verification needs INFO",
    )


class _Setting(NamedTuple):
    value: str
    container: Container
    place: Path


_Settings = dict[str, _Setting]


def _examine(subject: Obj, _: Inventory, parameters: NcclEnvironment) -> Iterator[Violation]:
    if subject.kind == "MPIJob":
        yield from _mpi_job(subject, parameters)
        return
    for container in subject.containers:
        if settings := _settings(container):
            yield from _violations(settings, container, parameters)


def _mpi_job(subject: Obj, parameters: NcclEnvironment) -> Iterator[Violation]:
    """Examine the workers' containers, under the variables that the launcher's mpirun hands on to them."""
    pods = {pod.role: pod for pod in subject.pods}
    launcher, worker = pods.get("Launcher"), pods.get("Worker")
    handed_on = _exported(launcher) if launcher is not None else {}
    if worker is None:
        return
    for container in worker.containers:
        settings = {**_settings(container), **handed_on} if container.group == "containers" else _settings(container)
        if settings:
            yield from _violations(settings, container, parameters)
            handed_on = {}  # what the launcher sets is reported once


def _exported(launcher: Pod) -> _Settings:
    exported: _Settings = {}
    for container in launcher.containers:
        settings = _container_variables(container)
        for call in calls(container):
            for name, (value, place) in call.exports.items():
                if not name.startswith(_PREFIX):
                    continue
                if value is not None:
                    exported[name] = _Setting(value, container, place)
                elif name in settings:
                    exported[name] = settings[name]
    return exported


def _settings(container: Container) -> _Settings:
    """Return a container's own variables, and those of an mpirun that it starts itself."""
    settings = _container_variables(container)
    for call in calls(container):
        for name, (value, place) in call.exports.items():
            if value is not None and name.startswith(_PREFIX):
                settings[name] = _Setting(value, container, place)
    return settings


def _container_variables(container: Container) -> _Settings:
    if "env" not in container.tree:
        return {}
    own_variables = variables(container, lambda name: name.startswith(_PREFIX))
    return {variable.name: _Setting(variable.value, container, variable.place) for variable in own_variables}


def _violations(settings: _Settings, container: Container, parameters: NcclEnvironment) -> Iterator[Violation]:
    yield from _values(settings, parameters)
    if _ABOUT_DEVICES.isdisjoint(settings) and not container.object.unknown:
        return
    requested, scarce = _rdma_requests(container)
    if requested:
        yield from _with_rdma(settings, container, requested, parameters)
    elif not scarce and container.read("securityContext", "privileged") is not True:
        yield from _without_rdma(settings, container)


def _rdma_requests(container: Container) -> tuple[list[str], bool]:
    """Return the RDMA resources, and whether there are others that may be network devices, or are not known."""
    requested = [request.resource for request in rdma(container)]
    others = container.hidden("resources") or any(
        "/" in request.resource and not is_gpu(request.resource) and not request.resource.startswith(RDMA_PREFIX)
        for request in container.requests
    )
    return requested, others


def _values(settings: _Settings, parameters: NcclEnvironment) -> Iterator[Violation]:
    for name, setting in settings.items():
        values = parameters.debug if name == _LEVEL else nccl.VALUES.get(name)
        if values is not None and setting.value.strip().upper() not in values and "$" not in setting.value:
            message = f"{name}={setting.value[:40]} is not one of {', '.join(sorted(values))}"
            yield _violation(setting, message).with_remedy(
                _DEBUG if name == _LEVEL else f"Write one of them, or leave out {name}"
            )


def _with_rdma(
    settings: _Settings, container: Container, requested: list[str], parameters: NcclEnvironment
) -> Iterator[Violation]:
    disabled = settings.get(_DISABLE)
    if disabled is not None and disabled.value.strip() == "1":
        yield _violation(
            disabled, f"NCCL_IB_DISABLE=1 turns off what container {container.name} asks for: {requested[0]}"
        )
    hca_setting = settings.get(_HCA)
    if hca_setting is None or hca_setting.value[:1] == "^" or "$" in hca_setting.value:
        return
    devices = [parameters.devices[resource] for resource in requested if resource in parameters.devices]
    if len(devices) != len(requested):
        return  # a resource of an unknown device
    named_hcas = list(nccl.hca_list(hca_setting.value))
    unmatched = [text for text, means in named_hcas if not any(means(device) for device in devices)]
    if unmatched:
        message = f"NCCL_IB_HCA names {', '.join(unmatched)[:80]}, and the container has {', '.join(devices)}"
        yield _violation(hca_setting, message)
    idle = [device for device in devices if not any(means(device) for _, means in named_hcas)]
    if idle and not unmatched:
        yield _violation(hca_setting, f"NCCL_IB_HCA leaves out {', '.join(idle)}, for which the container asks")


def _without_rdma(settings: _Settings, container: Container) -> Iterator[Violation]:
    disabled = settings.get(_DISABLE)
    if disabled is not None and disabled.value.strip() == "0":
        message = f"NCCL_IB_DISABLE=0 requires InfiniBand, and container {container.name} asks for no {RDMA_PREFIX}*"
        yield _violation(disabled, message)
    level = settings.get(_GDR_LEVEL)
    if level is not None and level.value.strip().upper() in nccl.GDR_LEVELS - nccl.NO_GDR:
        message = f"NCCL_NET_GDR_LEVEL={level.value} requires GPUDirect, and container {container.name} asks for no "
        yield _violation(level, f"{message}{RDMA_PREFIX}*")


def _violation(setting: _Setting, message: str) -> Violation:
    return setting.container.violation(message, *setting.place)


NCCL_ENVIRONMENT = Rule(
    name="nccl-environment",
    what="NCCL_IB_DISABLE, NCCL_IB_HCA and NCCL_NET_GDR_LEVEL agree with the RDMA devices that the container asks for; "
    "NCCL_DEBUG is not TRACE.",
    why="NCCL falls back to TCP silently: the log shows NET/Socket instead of NET/IB/0/GDRDMA, and small messages take "
    "thousands of microseconds. With TRACE a job logs more than it computes.",
    remedy=f"With {RDMA_PREFIX}*, set NCCL_IB_DISABLE=0, and set NCCL_IB_HCA to the devices behind those resources or "
    "leave it out; without, set NCCL_IB_DISABLE=1 and NCCL_NET_GDR_LEVEL=LOC",
    source="R-4.3-4, E-30, platform-facts 4.3 rule 22",
    severity=Severity.MANDATORY,
    parameters=NcclEnvironment,
    examine=_examine,
)
