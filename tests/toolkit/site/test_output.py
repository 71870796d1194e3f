"""Files and groups of files."""

from collections.abc import Iterator

import pytest

from stacks.loading import settings
from stacks.site import assembly as site
from tests.support.recorded import ROOT
from toolkit.site.groups import GROUPS
from toolkit.site.output import File, Group, Open, written

EXAMPLES = sorted(path.stem for path in (ROOT / "stacks" / "examples").glob("*.yaml"))


@pytest.mark.parametrize("path", ["/etc/hosts", "../hosts", "hosts/../../etc"])
def test_a_file_stays_in_the_folder(path: str) -> None:
    """A path that leads out of the folder is a fault of the group."""
    with pytest.raises(ValueError, match="inside of the folder"):
        File(path, "text\n", ())


@pytest.mark.parametrize("path", ["switches/a", "hosts/a"])
def test_a_group_writes_each_file_once_in_its_own_folder(path: str) -> None:
    """A file elsewhere, and a second one of the same path, are faults of the group."""

    def render(_: object) -> Iterator[File | Open]:
        yield File("hosts/a", "text\n", ())
        yield File(path, "text\n", ())

    with pytest.raises(ValueError, match=path):
        written(Group("hosts", "", render), site.of(settings.load("dev", ROOT), "dev"))


@pytest.mark.parametrize("stack", ["dev", "prod", *EXAMPLES])
def test_every_stack_has_its_files(stack: str) -> None:
    """Groups write for every stack without a failure, each file with its source; what is open has a remedy."""
    facts = site.of(settings.load(stack, ROOT), stack)
    for group in GROUPS:
        files, missing = written(group, facts)
        assert all(file.sources for file in files)
        assert all(each.what and each.remedy for each in missing)
