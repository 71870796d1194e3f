"""Ways from one version of a component to another, as the files of `stacks/transitions/` say.

A file is called as its component, e.g. `gpu-operator.yaml`, and adding one adds the component.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Self

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import Version
from pydantic import AfterValidator, Field, StringConstraints, model_validator

from core import data_files
from core.data_files import DataFiles
from core.model import Model

FOLDER = Path(__file__).with_suffix("")
_NUMBERS = 2
"""Parts of a version as settings and vendors' lists name it: major and minor."""


class Verdict(StrEnum):
    """What is known of a way from one version to another, from the mildest to the gravest."""

    SUPPORTED = "supported"
    UNKNOWN = "unknown"
    """No source says whether it is supported."""
    MANUAL = "manual"
    """It needs work that no controller does."""
    STOP = "stop"
    """Only with another version in between."""
    UNSUPPORTED = "unsupported"

    @property
    def refused(self) -> bool:
        """Whether an update must not do it in one step."""
        return self in (Verdict.STOP, Verdict.UNSUPPORTED)


_GRAVITY = list(Verdict)


class State(StrEnum):
    """What a vendor still does for a version."""

    SUPPORTED = "supported"
    DEPRECATED = "deprecated"
    """Critical corrections alone."""
    ENDED = "ended"


def _range(text: str) -> str:
    try:
        SpecifierSet(text)
    except InvalidSpecifier:
        raise ValueError("write a range of versions as PEP 440 has it, e.g. '<0.14' or '>=4.21,<4.21.9'") from None
    return text


Number = Annotated[str, StringConstraints(pattern=r"^\d+(\.\d+)*$")]
Range = Annotated[str, AfterValidator(_range)]


class KnownVersion(Model):
    """A version of a component, as its vendor speaks of it."""

    state: State | None = Field(default=None, description="None: its vendor names none, or it is not known here")
    until: date | None = Field(default=None, description="last day of that state; None: not known here")
    settings: Mapping[str, str] = Field(
        default={}, description="path of a setting -> its value with this version, where the stack has that setting"
    )


class Transition(Model):
    """What holds for a way whose ends are in two ranges; several may hold for one."""

    from_: Range = Field(alias="from", description="range of versions, as PEP 440 has it; empty: any")
    to: Range = Field(description="as `from`")
    verdict: Verdict
    stop: Number | None = Field(default=None, description="with verdict stop: the version in between")
    paused: bool = Field(
        default=False, description="with verdict stop: node pools are paused until both steps are taken"
    )
    recreated: bool = Field(
        default=False, description="there are no stops on the way: what is declared is of another generation"
    )
    reason: str = Field(min_length=1, description="what holds it back, or what changes; a clause")
    before: tuple[str, ...] = Field(default=(), description="what must be done first; sentences without a full stop")
    after: tuple[str, ...] = Field(default=(), description="what must be done then")
    source: str = Field(min_length=1)

    @model_validator(mode="after")
    def _names_its_stop(self) -> Self:
        if (self.verdict is Verdict.STOP) != (self.stop is not None):
            raise ValueError(f"verdict {self.verdict} and stop {self.stop}: a stop has a version, and nothing else has")
        return self

    @property
    def of_patches(self) -> bool:
        """Whether it is about versions with a third number, which settings do not name."""
        return any(
            len(Version(specifier.version.removesuffix(".*")).release) > _NUMBERS
            for text in (self.from_, self.to)
            for specifier in SpecifierSet(text)
        )

    def covers(self, source: str, target: str) -> bool:
        """Return whether it is about a way; of ways between minor versions nothing is known about patches."""
        if self.of_patches and _is_minor(target):
            return False
        ends = ((self.from_, source), (self.to, target))
        return all(SpecifierSet(text).contains(version, prereleases=True) for text, version in ends)


class Step(Model):
    """A way from one version of a component to another, and all that is known of it."""

    component: str
    source: str
    """Version before."""
    target: str
    verdict: Verdict
    stop: str | None = None
    paused: bool = False
    recreated: bool = False
    """Whether it leads to another generation of settings, so that no value alone is changed."""
    reasons: tuple[str, ...] = ()
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    restarts: str = ""
    sources: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Return how it is named, also by `allow` of the settings."""
        return f"{self.source} to {self.target}"

    def __str__(self) -> str:
        """Return it as a sentence: what it is, and what is known."""
        why = "; ".join(self.reasons)
        way = f"go to {self.stop} first" if self.stop else ""
        return f"{self.component} {self.name} is {_WORDS[self.verdict]}" + "".join(
            f"{mark}{text}" for mark, text in ((": ", why), ("; ", way)) if text
        )


_WORDS = {
    Verdict.SUPPORTED: "supported",
    Verdict.UNKNOWN: "a step of which no source says whether it is supported",
    Verdict.MANUAL: "a step that needs manual work",
    Verdict.STOP: "not supported in one step",
    Verdict.UNSUPPORTED: "not supported",
}


class Component(Model):
    """What has versions of its own: its versions in order, and the ways between them."""

    name: str = Field(description="as the lists of `stacks/releases/` have it, where they have it")
    package: str | None = Field(default=None, description="in OperatorHub; None: not installed from there")
    follows_release: bool = Field(default=False, description="its version is that of OpenShift, and OLM brings it")
    only_next: bool = Field(
        default=False, description="its vendor supports a step to the next of `versions` alone, and no longer one"
    )
    reason: str = Field(default="", description="that rule, in a clause")
    restarts: str = Field(default="", description="what a step restarts; a clause")
    source: str = Field(min_length=1, description="of the order, the rule and the states")
    versions: Mapping[Number, KnownVersion] = Field(min_length=1, description="from the oldest on")
    back: Verdict = Field(default=Verdict.UNKNOWN, description="whether a step to an earlier version is supported")
    back_reason: str = Field(default="", description="why; a clause")
    transitions: tuple[Transition, ...] = ()

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        versions = list(self.versions)
        if versions != sorted(versions, key=Version):
            raise ValueError(f"versions are not in order; write {', '.join(sorted(versions, key=Version))}")
        for transition in self.transitions:
            if transition.stop is not None and transition.stop not in self.versions and not transition.of_patches:
                raise ValueError(f"transitions: stop {transition.stop} is none of the versions; add it")
        return self

    def step(self, source: str, target: str) -> Step:
        """Return what is known of one step, between versions of two numbers or more."""
        forward = Version(target) > Version(source)
        covering = [transition for transition in self.transitions if forward and transition.covers(source, target)]
        verdict, stop, reason = self._rule(source, target)
        gravest = max(covering, key=lambda transition: _GRAVITY.index(transition.verdict), default=None)
        if gravest is not None and _GRAVITY.index(gravest.verdict) > _GRAVITY.index(verdict):
            verdict, stop, reason = gravest.verdict, gravest.stop, ""
        if recreated := next((transition for transition in covering if transition.recreated), None):
            verdict, stop, reason = recreated.verdict, None, ""
        return Step(
            component=self.name,
            source=source,
            target=target,
            verdict=verdict,
            stop=stop,
            paused=any(transition.paused for transition in covering),
            recreated=recreated is not None,
            reasons=(*filter(None, [reason]), *(transition.reason for transition in covering)),
            before=tuple(text for transition in covering for text in transition.before),
            after=tuple(text for transition in covering for text in transition.after),
            restarts=self.restarts,
            sources=tuple(dict.fromkeys((*(transition.source for transition in covering), self.source))),
        )

    def _rule(self, source: str, target: str) -> tuple[Verdict, str | None, str]:
        """Return what the order of the versions says: verdict, stop and reason."""
        if Version(target) < Version(source):
            return self.back, None, self.back_reason or "it is an earlier version"
        versions = list(self.versions)
        start, end = minor(source), minor(target)
        missing = next((version for version in (start, end) if version not in versions), None)
        if missing is not None:
            return Verdict.UNKNOWN, None, f"nothing is known here of version {missing}"
        distance = versions.index(end) - versions.index(start)
        if self.only_next and distance > 1:
            return Verdict.STOP, versions[versions.index(start) + 1], self.reason
        return Verdict.SUPPORTED, None, ""

    def path(self, source: str, target: str) -> Sequence[Step]:
        """Return the steps from one version to another, with all stops; none where they are the same."""
        return tuple(self._path(source, target))

    def _path(self, source: str, target: str) -> Iterator[Step]:
        if source == target or (_is_minor(target) and minor(source) == target):
            return
        whole = self.step(source, target)
        if whole.verdict is Verdict.STOP and whole.stop and Version(source) < Version(whole.stop) < Version(target):
            yield from self._path(source, whole.stop)
            yield from self._path(whole.stop, target)
        else:
            yield whole

    def patches(self, target: str) -> Iterator[Transition]:
        """Yield what is known of steps to patches of a minor version."""
        for transition in self.transitions:
            if transition.of_patches and any(
                Version(target).release == Version(specifier.version.removesuffix(".*")).release[:_NUMBERS]
                for specifier in SpecifierSet(transition.to)
            ):
                yield transition

    def state(self, version: str) -> State | None:
        """Return what the vendor still does for a version; None: not known here."""
        entry = self.versions.get(minor(version))
        return entry.state if entry else None


def minor(version: str) -> str:
    """Return major and minor version, without zeros in front: 24.07 is 24.7."""
    return ".".join(map(str, Version(version).release[:_NUMBERS]))


def _is_minor(version: str) -> bool:
    return len(Version(version).release) <= _NUMBERS


def load(folder: Path) -> Mapping[str, Component]:
    """Return the components of a folder's files by the names of these; each is read when it is first requested."""
    return DataFiles(folder, lambda file: data_files.validate(Component, data_files.read(file), file))


COMPONENTS = load(FOLDER)
OPENSHIFT, GPU_OPERATOR, GPU_DRIVER = "openshift", "gpu-operator", "gpu-driver"
"""Names of files that are more than a version of a product in a release's lists."""


def of_product(product: str) -> Component | None:
    """Return the component of a product, by its name in the lists of releases; None: no file is about it."""
    return next((component for component in COMPONENTS.values() if component.name == product), None)
