"""Versions of components that settings declare, by the names of the files in `stacks/transitions/`."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from stacks.checks.operator import subscriptions, version_of_image
from stacks.resolved.versions import version_of
from stacks.settings.gpu import GpuOperatorSettings
from stacks.settings.operators import UpstreamTrainer
from stacks.settings.platform import Settings
from stacks.transitions import COMPONENTS, GPU_DRIVER, OPENSHIFT, State, Step, minor

TRAINER, MPI_OPERATOR, SCALE = "trainer", "mpi-operator", "scale-container-native"


@dataclass(frozen=True)
class Declared:
    """A version of a component, and the setting that it follows from."""

    component: str
    version: str
    """Of two numbers or more, of drivers their branch."""
    place: str
    """Path of the setting."""
    value: str
    """Value of the setting."""


def declared(settings: Settings) -> tuple[Declared, ...]:
    """Return the components whose versions the settings say; those that follow a channel without a version are not."""
    return tuple(_declared(settings))


def component_of(package: str) -> str | None:
    """Return the component of a package in OperatorHub; None: no file is about it."""
    return next((name for name, component in COMPONENTS.items() if component.package == package), None)


def branch(driver: str) -> str:
    """Return the branch of a GPU driver: 580.105.08 is of 580."""
    return driver.partition(".")[0]


def _declared(settings: Settings) -> Iterator[Declared]:
    yield Declared(OPENSHIFT, settings.release, "release", settings.release)
    for place, operator in subscriptions(settings):
        name = component_of(operator.package)
        if name is None or operator.installed:
            continue
        own = version_of(operator)
        version = own or (settings.release if COMPONENTS[name].follows_release else None)
        if version:
            yield Declared(name, version, f"{place}.channel", operator.channel)
    gpu = settings.gpu
    if isinstance(gpu, GpuOperatorSettings) and gpu.driver:
        yield Declared(GPU_DRIVER, branch(gpu.driver.version), "gpu.driver.version", gpu.driver.version)
    if isinstance(settings.trainer, UpstreamTrainer):
        yield from _of_image(TRAINER, "trainer.image", settings.trainer.image)
    if settings.mpi_operator and not settings.mpi_operator.installed:
        yield from _of_image(MPI_OPERATOR, "mpi_operator.image", settings.mpi_operator.image)
    if settings.scale_pods:
        yield Declared(SCALE, settings.scale_pods.version, "storage.version", settings.scale_pods.version)


def _of_image(component: str, place: str, image: str) -> Iterator[Declared]:
    version = version_of_image(image)
    if version:
        yield Declared(component, version, place, image)


def steps(running: Mapping[str, str], settings: Settings) -> Iterator[tuple[Declared, Step]]:
    """Yield what an update would do in one step to components that run in another version; OpenShift is not its own."""
    for entry in declared(settings):
        version = running.get(entry.component)
        component = COMPONENTS[entry.component]
        if version is None or entry.component == OPENSHIFT or component.follows_release:
            continue
        if minor(version) != minor(entry.version):
            yield entry, component.step(version, entry.version)


def ended(settings: Settings) -> Iterator[str]:
    """Yield the versions whose vendors have ended them, unless the settings accept them."""
    allowed = {(entry.what, entry.value) for entry in settings.allow}
    for entry in declared(settings):
        component = COMPONENTS[entry.component]
        if component.state(entry.version) is State.ENDED and (entry.place, entry.value) not in allowed:
            yield (
                f"{entry.place} {entry.value}: its vendor has ended {component.name} {entry.version}; "
                "`./hpc upgrade check` shows the way to a later one"
            )


def is_allowed(entry: Declared, step: Step, settings: Settings) -> bool:
    """Return whether the settings accept a step that is not supported: `{what: PATH, value: "FROM to TO"}`."""
    return any((allowed.what, allowed.value) == (entry.place, step.name) for allowed in settings.allow)


def refusal(entry: Declared, step: Step) -> str:
    """Return why a step is refused, with what to do."""
    return (
        f"{entry.place} {entry.value}: {step}; or accept it: `allow: [{{what: {entry.place}, "
        f'value: "{step.name}", reason: ...}}]`'
    )


def accepted(what: str, value: str, settings: Settings) -> Step | None:
    """Return the step that an entry of `allow` accepts; None where the settings do not lead to its version."""
    source, _, target = value.partition(" to ")
    for entry in declared(settings):
        if entry.place == what and minor(entry.version) == target:
            return COMPONENTS[entry.component].step(source, target)
    return None
