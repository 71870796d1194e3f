"""A data set as jobs have it: what its lock says, where its files are, and the program that proves both.

The program is the text of stacks/scripts/data_set.py, which composes with any image that has Python 3.6 or later.
"""

import shlex
from collections.abc import Sequence
from typing import Annotated

from pydantic import Field, StringConstraints

from components.base.model import Model
from core.apis import data_sets

DataSetName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]([-a-z0-9]{0,38}[a-z0-9])?$")]


class LockedData(Model):
    """The data set of a job."""

    name: DataSetName = Field(description="its name")
    digest: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")] = Field(description="SHA-256 of its list")
    files: int = Field(gt=0, description="lines of its list")
    bytes: int = Field(ge=0, description="of all its files")
    at: Annotated[str, StringConstraints(pattern=r"^/\w[\w/.-]*$")] = Field(
        description="folder in the container that the paths of its list begin in"
    )
    reader: str = Field(
        # The Job has it: the component's own inputs in the state need not.
        exclude=True,
        min_length=1,
        repr=False,
        description="text of the program that reads and proves it",
    )

    @property
    def environment(self) -> dict[str, str]:
        """Variables by which a program finds its files."""
        return {
            data_sets.NAME: self.name,
            data_sets.DIGEST: self.digest,
            data_sets.ROOT: self.at,
            data_sets.LIST: f"{self.at}/{data_sets.list_path(self.digest)}",
        }

    def command(self, what: str, *more: str) -> tuple[str, ...]:
        """Return the command line that stages, checks, slices or reduces the set."""
        fixed = ("--name", self.name, "--digest", self.digest, "--root", self.at)
        counts = ("--files", str(self.files), "--bytes", str(self.bytes))
        return ("python3", "-c", self.reader, what, *fixed, *counts, *more)


def proved_first(words: Sequence[str], proof: Sequence[str], *, of_ranks: bool = False) -> list[str]:
    """Return the command line that starts `words` after `proof`, and only where that succeeds.

    `of_ranks`: mpirun starts it once for each rank, and one of a pod is enough.
    """
    first = shlex.join(proof)
    if of_ranks:
        first = f'[ "${{OMPI_COMM_WORLD_LOCAL_RANK:-0}}" != 0 ]||{first}'
    return ["/bin/sh", "-ec", f"{first};exec {shlex.join(words)}" if words else first]
