"""Where a catalogue is: what the settings say of it. `toolkit/cli/data` opens it, for it may be on the network."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from core.model import Model


class SqliteSource(Model):
    """A catalogue in one file, written by `./hpc data index`."""

    kind: Literal["sqlite"]
    path: str = Field(min_length=1, description="file, relative to the project's folder, e.g. data/frames.sqlite")


class DiscoverSource(Model):
    """IBM Spectrum Discover, now Data Cataloging of IBM Fusion; its account is in the user's environment."""

    kind: Literal["discover"]
    host: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9.-]+(:[0-9]+)?$")] = Field(
        description="host of its console, with a port where it is not 443"
    )
    ca: str | None = Field(
        default=None,
        description="file with its CA certificate, relative to the project's folder; None: one that the machine trusts",
    )


class ParquetSource(Model):
    """A catalogue in Parquet files with a row for every frame and a column for every tag."""

    kind: Literal["parquet"]
    path: str = Field(min_length=1, description="file, or folder with *.parquet, relative to the project's folder")


AnySource = Annotated[SqliteSource | ParquetSource | DiscoverSource, Field(discriminator="kind")]
