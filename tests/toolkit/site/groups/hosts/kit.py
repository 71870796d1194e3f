"""Sites and their files, for tests of the hosts' group."""

from pathlib import Path
from typing import Any

from stacks.loading import settings
from stacks.settings.site import SiteSettings
from stacks.site import assembly as site
from stacks.site.site import Site
from tests.support.recorded import ROOT
from toolkit.site.groups.hosts import GROUP
from toolkit.site.output import Open, written


def of(stack: str, **changes: Any) -> Site:
    """Return the site of an example stack; `changes` are of its `site` setting."""
    found = site.of(settings.load(stack, ROOT), stack)
    given = found.settings.model_dump(mode="json", exclude_unset=True) | changes
    return found.model_copy(update={"settings": SiteSettings.model_validate(given)})


def files(found: Site) -> dict[str, str]:
    """Return the texts of the hosts' files by path, without the group's folder."""
    return {file.path.removeprefix("hosts/"): file.text for file in written(GROUP, found)[0]}


def missing(found: Site) -> tuple[Open, ...]:
    """Return what is open."""
    return written(GROUP, found)[1]


def write(found: Site, folder: Path) -> Path:
    """Write the hosts' files into a folder; return it."""
    for path, text in files(found).items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
    return folder
