"""The files of a stack's site: what they would be, with what its nodes pull, and what is in a folder."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.apis import kinds
from policies.manifests.objects import Obj, objects
from policies.views.images import Image, images_of, parse
from stacks.settings.platform import Settings
from stacks.settings.site.mirror import NOTHING, Content, ImageName, Package
from stacks.site import assembly as site
from stacks.site import jobs as site_jobs
from toolkit.cli.shared import stack as stacks
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.paths import ROOT
from toolkit.render.manifests import manifests, registrations
from toolkit.site import manifest
from toolkit.site.groups import GROUPS
from toolkit.site.manifest import Manifest
from toolkit.site.output import File, Group, Open, written

Tree = Mapping[str, Any]
_DEFAULT_TAG = "latest"
"""What a reference without tag and digest means."""


@dataclass(frozen=True)
class SiteFiles:
    """What the settings of a stack mean for the files around its cluster."""

    groups: tuple[tuple[Group, tuple[File, ...], tuple[Open, ...]], ...]
    manifest: Manifest

    @property
    def files(self) -> tuple[File, ...]:
        """The files of all groups."""
        return tuple(file for _, files, _ in self.groups for file in files)


def of_stack(stack: str, only: Sequence[str] = ()) -> SiteFiles:
    """Return the files of a stack, of the groups named in `only` or of all; raise Problem for an unknown group."""
    names = [group.name for group in GROUPS]
    if unknown := sorted(set(only) - set(names)):
        raise Problem(f"--only: no group is called {', '.join(unknown)}", f"Name some of: {', '.join(names)}.")
    settings = stacks.read(stack).settings
    facts = site.of(settings, stack, _content(settings, stack), site_jobs.of(settings))
    groups = tuple((group, *written(group, facts)) for group in GROUPS if not only or group.name in only)
    files = [file for _, files, _ in groups for file in files]
    return SiteFiles(groups=groups, manifest=manifest.of(files, stack))


def _content(settings: Settings, stack: str) -> Content:
    """Return what the stack's nodes pull; found in half a second, and only where files say something of it."""
    if settings.site is None or settings.site.mirror is None:
        return NOTHING
    return content_of(settings, manifests(registrations(stack, ROOT)))


def stored(folder: Path, instead: Manifest | None = None) -> Manifest | None:
    """Return the manifest of a folder that `./hpc site render` wrote; None for an empty or a missing one.

    `instead` is returned for a manifest that is damaged. Raises Problem for that without it, and for a folder with
    files of something else.
    """
    try:
        if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
            return None
        return manifest.from_text((folder / manifest.NAME).read_text(errors="replace"))
    except FileNotFoundError:
        what = f"it has no {manifest.NAME}"
    except NotADirectoryError:
        raise Problem(f"{folder} is a file", "Name a folder.") from None
    except OSError as error:
        raise Problem(f"{folder} cannot be read: {error.strerror or error}", "Correct its rights.") from None
    except ValueError as error:
        if instead is not None:
            return instead
        raise Problem(
            f"{folder}: {error}, or it was damaged since",
            "Name a new or an empty folder, or write this one again with `./hpc site render --force`.",
        ) from None
    raise Problem(
        f"{folder} holds files that `./hpc site render` did not write: {what}", "Name a new or an empty folder."
    )


def present(folder: Path, paths: Sequence[str]) -> dict[str, str]:
    """Return the digests of those files of a folder that exist, by path."""
    return {path: manifest.digest((folder / path).read_bytes()) for path in paths if (folder / path).is_file()}


def group_of(path: str) -> str:
    """Return the name of the group that a file belongs to."""
    return path.split("/", maxsplit=1)[0]


def inside(folder: Path, path: str) -> Path:
    """Return a file of a folder; raise Problem where a manifest that was edited names one outside of it."""
    file = folder / path
    if not file.resolve().is_relative_to(folder.resolve()):
        raise Problem(f"{folder / manifest.NAME} names {path}, which is outside of the folder", "Name another folder.")
    return file


def content_of(settings: Settings, manifests: Sequence[Tree]) -> Content:
    """Return images and packages that the manifests of a stack name, but for images that its own builds push."""
    images = images_of(manifests)
    own = f"{settings.version.registry}/"
    outside = {image: parse(image) for image in sorted(images.whole - images.built) if not image.startswith(own)}
    unknown = [f"image {name!r}, which {image.fault}" for name, image in outside.items() if image.fault]
    unknown += [f"what the Containerfile of build {build} names, in its repository" for build in sorted(images.unread)]
    if settings.scale_pods:
        unknown.append(f"images of Storage Scale container native {settings.scale_pods.version}, in IBM's manifest")
    subscription = (kinds.SUBSCRIPTION.group, kinds.SUBSCRIPTION.kind)
    return Content(
        images=tuple(_in_full(image) for image in outside.values() if not image.fault),
        packages=tuple(
            _package(obj)
            for manifest in manifests
            for obj in objects(manifest)
            if (obj.group, obj.kind) == subscription
        ),
        incomplete=tuple(sorted(images.beginnings)),
        unknown=tuple(unknown),
    )


def _in_full(image: Image) -> ImageName:
    tag = image.tag or ("" if image.digest else _DEFAULT_TAG)
    return ImageName(repository=image.home, tag=tag, digest=image.digest)


def _package(subscription: Obj) -> Package:
    name, channel, source = (subscription.text("spec", field) for field in ("name", "channel", "source"))
    return Package(name=name, channel=channel, catalogue=source)
