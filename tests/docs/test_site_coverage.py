"""The coverage says of files around the cluster what `./hpc site render` writes for the stacks."""

from functools import cache

from tests.support.recorded import OURS
from toolkit.cli.site.files import of_stack
from toolkit.render.reference.coverage_data import rows

ENTRIES = dict(rows())


@cache
def rendered() -> dict[str, str]:
    """Return the rows that files of any stack name as their sources, each with one of these files."""
    return {
        source: f"{stack}: {file.path}"
        for stack in OURS
        for file in of_stack(stack).files
        for source in file.sources
        if source in ENTRIES
    }


def test_rows_that_files_serve_name_what_writes_and_what_proves_them() -> None:
    """A row that a rendered file names as its source has a module of `toolkit/site/`, and a test of it."""
    wrong = {
        row: file
        for row, file in rendered().items()
        if not any(one.startswith("toolkit/site/") for one in ENTRIES[row].by)
        or not any(one.startswith("tests/toolkit/site/") for one in ENTRIES[row].proof)
    }
    assert wrong == {}, "add both in docs/coverage/, or take the row from the sources of the file"


def test_a_site_file_is_written_for_a_stack() -> None:
    """No row is called a site file that no stack has."""
    claimed = {row for row, entry in ENTRIES.items() if entry.verdict == "site-file"}
    assert sorted(claimed - rendered().keys()) == []
