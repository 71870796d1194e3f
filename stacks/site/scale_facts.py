"""What the settings of a stack's storage say of Spectrum Scale on hosts."""

from pydantic import Field

from core.model import Model


class ScaleFacts(Model):
    """Clients as packages of hosts, and the file system that they mount from another cluster."""

    cluster_id: str = Field(description="of the clients' cluster, as the driver and volumes name it")
    file_system: str = Field(description="device name, as storage.file_system.name has it")
    owner_gui: str | None = Field(description="name or address of the owner's GUI; None: not known which it is")
    reserved_gib: int = Field(description="memory that a GPU node leaves for itself, GiB; the pagepool is part of it")
