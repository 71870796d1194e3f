"""Settings of the GPU hosts: their operating system and what is installed there."""

from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from core.model import Model

Url = Annotated[str, StringConstraints(pattern=r"^https?://[^\s@]+$")]
"""Without a user in it: no file holds a password."""
RootUrl = Annotated[str, StringConstraints(pattern=r"^https://[^\s@]+$")]
"""Of what hosts install as root, with no signature or checksum that the settings know."""
Word = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9@][A-Za-z0-9_.+:~-]*$")]


class YumRepository(Model):
    """A file below /etc/yum.repos.d."""

    file: Word = Field(description="name of the file without .repo, e.g. vendor-7")
    title: str = Field(min_length=1, description="what `yum repolist` prints")
    url: Url = Field(description="where its packages are")
    key: str = Field(pattern=r"^(https|file)://\S+$", description="URL of the key that its packages are signed with")


class OfedArchive(Model):
    """NVIDIA's own network driver (MLNX_OFED), from an archive that you downloaded."""

    version: str = Field(
        pattern=r"^\d+\.\d+-\d+(\.\d+)*$", description="e.g. 4.7-3.2.9.0; the storage's hosts have it, too"
    )
    platform: Word = Field(description="as in the archive's name, e.g. rhel7.6-x86_64")
    folder: str = Field(pattern=r"^/\S+$", description="folder of the archive on the machine that runs Ansible")
    sha256: str | None = Field(
        default=None,
        pattern=r"^[0-9a-f]{64}$",
        description="checksum of the archive, whose installer runs as root: what `sha256sum` prints of a copy that you "
        "trust. None: open, and Ansible refuses to install it",
    )

    @property
    def name(self) -> str:
        """The archive's name without its ending, which is also the folder in it."""
        return f"MLNX_OFED_LINUX-{self.version}-{self.platform}"


class PeerMemory(Model):
    """nv_peer_mem, built on each host against the driver of the operator's container."""

    repository: RootUrl = Field(description="git repository of its source, by https")
    revision: str = Field(
        min_length=1, pattern=r"^[\w./-]+$", description="tag or commit; the document takes the newest"
    )


class HostDriver(Model):
    """The GPU driver as packages of the host, where no operator brings it."""

    packages: tuple[Word, ...] = Field(min_length=1, description="e.g. nvidia-driver, nvidia-driver-cuda")
    hook: Word | None = Field(
        default=None,
        description="package of NVIDIA's hook of the container runtime, e.g. nvidia-container-runtime-hook; None: "
        "containers get the driver's files by other means",
    )
    hook_file: bool = Field(
        default=False,
        description="write the hook's JSON file; packages for CRI-O 1.12 and later ship a correct one",
    )

    @model_validator(mode="after")
    def _file_of_a_hook(self) -> Self:
        if self.hook_file and self.hook is None:
            raise ValueError("hook_file: there is no hook; name its package, or leave it out")
        return self


class RedHatHosts(Model):
    """GPU hosts with Red Hat Enterprise Linux, which Ansible prepares."""

    dialect: Literal["rhel7", "rhel8"] = Field(description="generation of the operating system")
    user: str | None = Field(
        default=None, min_length=1, description="user that Ansible logs in as; None: the user who runs it"
    )
    joined: tuple[str, ...] = Field(default=(), description="GPU nodes that are part of the cluster already")
    release: str | None = Field(
        default=None,
        pattern=r"^[78]\.\d+$",
        description="minor release that subscription-manager pins, e.g. 7.6",
    )
    kernel: str | None = Field(
        default=None,
        pattern=r"^\d\S+$",
        description="what `uname -r` prints on all of them after the update",
    )
    subscription_pool: str | None = Field(
        default=None,
        pattern=r"^[0-9a-f]{32}$",
        description="pool of the OpenShift subscription that hosts attach, by its id in `subscription-manager list "
        "--available`; None: it is attached, or the account has Simple Content Access",
    )
    subscriptions: tuple[Word, ...] = Field(default=(), description="repositories that subscription-manager enables")
    repositories: dict[Word, YumRepository] = Field(
        default={}, description="further repositories by id, e.g. vendor-7-updates"
    )
    repository_files: tuple[RootUrl, ...] = Field(default=(), description="URLs of repository files, by https")
    setup_packages: tuple[RootUrl, ...] = Field(
        default=(), description="URLs of packages that install repositories and keys, by https"
    )
    package_groups: tuple[str, ...] = Field(default=(), description="package groups of the machines' vendor")
    ofed: OfedArchive | None = Field(default=None, description="None: hosts have the kernel's own network driver")
    peer_memory: PeerMemory | None = Field(default=None, description="None: not built on the host")
    selinux: Literal["enforcing", "permissive"] = Field(
        default="enforcing",
        description="permissive, which the driver container of 2020 needs, does not separate tenants: `./hpc check` "
        "reports it without an exception to the rule selinux-enforcing",
    )
    selinux_modules: tuple[Annotated[str, StringConstraints(pattern=r"^[\w-]+\.(pp|te)$")], ...] = Field(
        default=(),
        description="files that you put into hosts/roles/selinux/files: a compiled module (.pp), or a source (.te), "
        "which is compiled on the host",
    )
    host_driver: HostDriver | None = Field(default=None, description="None: an operator brings the driver")
    container_runtime: Literal["docker", "crio", "cri-o"] | None = Field(
        default=None, description="name of the runtime's unit on OpenShift 3.11, which has no MachineConfig for memlock"
    )
    node_groups: dict[str, str] = Field(
        default={}, description="3.11: node -> group, where it is not that of its role, e.g. node-config-infra"
    )
    image_tag: str | None = Field(
        default=None,
        pattern=r"^v3\.11\.\d+$",
        description="3.11: tag of its images and packages, e.g. v3.11.117; None: the newest",
    )

    @model_validator(mode="after")
    def _of_one_generation(self) -> Self:
        generation = self.dialect.removeprefix("rhel")
        if self.release and not self.release.startswith(f"{generation}."):
            raise ValueError(f"release {self.release} is not of dialect {self.dialect}; give one of {generation}.x")
        return self


class CoreOsHosts(Model):
    """GPU hosts with RHCOS: the cluster configures them, not Ansible."""

    dialect: Literal["rhcos"]


HostSettings = Annotated[RedHatHosts | CoreOsHosts, Field(discriminator="dialect")]
"""The GPU hosts, all with one operating system."""
