"""The way from versions that run to others: which step comes at which release of OpenShift. Pure functions."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from packaging.version import Version

from stacks.releases import RELEASES, KnownVersions
from stacks.transitions import COMPONENTS, GPU_DRIVER, GPU_OPERATOR, OPENSHIFT, State, Step, Verdict, minor


@dataclass(frozen=True)
class Planned:
    """A step in its place."""

    component: str
    """Name of its file in `stacks/transitions/`."""
    step: Step
    release: str
    """OpenShift at that time."""
    problem: str = ""
    """Why there is no step that could be taken here."""

    @property
    def verdict(self) -> Verdict:
        """What is known of it; unsupported where there is no version to go to."""
        return Verdict.UNSUPPORTED if self.problem else self.step.verdict


def plan(running: Mapping[str, str], aims: Mapping[str, str]) -> tuple[Planned, ...]:
    """Return the steps from the versions that run to those that are aimed at, in the order to take them.

    Before each step of OpenShift every component goes as far towards its aim as its vendor lists it for the present
    release, so that nodes load drivers as few times as vendors allow. Between two releases with extended update
    support it must be listed for that in between, too.
    """
    return tuple(_Way(running, aims).steps())


def _hops(source: str, target: str) -> tuple[tuple[Step, ...], ...]:
    """Return the steps of OpenShift; those for which node pools stay paused are together."""
    steps = COMPONENTS[OPENSHIFT].path(source, target)
    grouped: list[tuple[Step, ...]] = []
    rest = list(steps)
    while rest:
        pair = rest[:2]
        paused = len(pair) > 1 and COMPONENTS[OPENSHIFT].step(pair[0].source, pair[1].target).paused
        grouped.append(tuple(pair) if paused else (rest[0],))
        del rest[: len(grouped[-1])]
    return tuple(grouped)


def aims(running: Mapping[str, str], release: str) -> dict[str, str]:
    """Return to which versions components go for a release, where only that is named.

    A version stays where it is listed for that release and its vendor has not ended or deprecated it. Otherwise it is
    the newest that is listed and has full support, else the first later one that is listed.
    """
    return {OPENSHIFT: release} | {
        name: _aim(name, version, release) for name, version in running.items() if name != OPENSHIFT
    }


def _aim(name: str, version: str, release: str) -> str:
    component = COMPONENTS[name]
    if component.follows_release:
        return minor(release)
    listed = _listed(name, release)
    if listed is None:
        return version
    good = [candidate for candidate in listed.versions if component.state(candidate) is State.SUPPORTED]
    if minor(version) in listed.versions and (minor(version) in good or not good):
        return version
    later = [candidate for candidate in listed.versions if Version(candidate) > Version(version)]
    choices = [candidate for candidate in good if candidate in later] or later[:1]
    return choices[-1] if choices else version


def _listed(name: str, release: str) -> KnownVersions | None:
    known = RELEASES.get(minor(release))
    return known.listed(COMPONENTS[name].name) if known else None


class _Way:
    """The versions on the way, as they are after the steps so far."""

    def __init__(self, running: Mapping[str, str], aims: Mapping[str, str]) -> None:
        self.aims = aims
        self.release = running[OPENSHIFT]
        self.versions = {name: version for name, version in running.items() if name in aims and name != OPENSHIFT}
        if self.versions.get(GPU_OPERATOR) != aims.get(GPU_OPERATOR):
            # Its last step brings the driver, so that nodes load one once.
            self.versions.pop(GPU_DRIVER, None)

    def steps(self) -> Iterator[Planned]:
        for hop in _hops(self.release, self.aims[OPENSHIFT]):
            passed = [minor(step.target) for step in hop]
            for name in self.versions:
                yield from self._prepare(name, passed)
            for step in hop:
                followers, others = self._follow(step)
                whole = _paused(step, hop)
                with_followers = whole.model_copy(update={"after": (*whole.after, *followers)})
                yield Planned(OPENSHIFT, with_followers, self.release)
                self.release = step.target
                yield from others
        for name in self.versions:
            if not COMPONENTS[name].follows_release:
                yield from self._advance(name, COMPONENTS[name].path(self.versions[name], self.aims[name]))

    def _follow(self, openshift: Step) -> tuple[list[str], list[Planned]]:
        """Return what operators do by themselves after a step of OpenShift, and the steps of those that do not."""
        texts, others = [], []
        for name, version in self.versions.items():
            component = COMPONENTS[name]
            if component.follows_release and version != minor(openshift.target):
                step = component.step(version, minor(openshift.target))
                if step.verdict is Verdict.SUPPORTED:
                    texts.append(f"{component.name} goes to {step.target} by itself")
                else:
                    others.append(Planned(name, step, openshift.target))
                self.versions[name] = step.target
        return texts, others

    def _advance(self, name: str, steps: Sequence[Step]) -> Iterator[Planned]:
        for step in steps:
            yield Planned(name, step, self.release)
            self.versions[name] = step.target

    def _prepare(self, name: str, passed: Sequence[str]) -> Iterator[Planned]:
        """Yield the steps of a component before a release is left, and what stands against leaving it."""
        here = _listed(name, self.release)
        if here is None or COMPONENTS[name].follows_release:
            return
        steps = COMPONENTS[name].path(self.versions[name], self.aims[name])
        taken = []
        for step in steps:
            if minor(step.target) not in here.versions:
                break
            taken.append(step)
        yield from self._advance(name, taken)
        missing = [release for release in passed if not _fits(name, self.versions[name], release)]
        if missing:
            version = self.versions[name]
            listed = _listed(name, missing[0])
            choice = f", which has {', '.join(listed.versions)}" if listed else ""
            stay = Step(component=COMPONENTS[name].name, source=version, target=version, verdict=Verdict.UNSUPPORTED)
            why = (
                f"{COMPONENTS[name].name} {version} is not listed for OpenShift {missing[0]}{choice}; choose a version "
                f"that is listed for {' and '.join([minor(self.release), *passed])}"
            )
            yield Planned(name, stay, self.release, why)


def _fits(name: str, version: str, release: str) -> bool:
    listed = _listed(name, release)
    return listed is None or minor(version) in listed.versions


def _paused(step: Step, hop: Sequence[Step]) -> Step:
    """Return a step with what is to be done before the first and after the last of several, with pools paused."""
    if len(hop) == 1:
        return step
    whole = COMPONENTS[OPENSHIFT].step(hop[0].source, hop[-1].target)
    later = [text for text in hop[-1].before if text not in hop[0].before]
    before = tuple(text for text in whole.before if text not in later) if step is hop[0] else step.before
    after = whole.after if step is hop[-1] else ()
    restarts = step.restarts if step is hop[-1] else "control plane; nodes stay as they are, their pools paused"
    return step.model_copy(update={"before": before, "after": after, "restarts": restarts, "paused": True})
