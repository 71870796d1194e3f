"""Settings of the hosts' networks beside those of the cluster."""

from ipaddress import IPv4Address, IPv4Network
from typing import Self

from pydantic import Field, field_validator, model_validator

from core.model import Model


class HostNetwork(Model):
    """A network, and the hosts' addresses in it."""

    network: IPv4Network = Field(description="e.g. 192.168.1.0/24")
    addresses: dict[str, IPv4Address] = Field(default={}, description="node -> address")

    @model_validator(mode="after")
    def _inside_and_once(self) -> Self:
        seen: dict[IPv4Address, str] = {}
        for host, address in self.addresses.items():
            if problem := unfit(address, self.network):
                raise ValueError(f"addresses.{host}: {problem}")
            if address in seen:
                raise ValueError(f"addresses.{host}: {address} is taken by {seen[address]}; give another one")
            seen[address] = host
        return self


class DaemonNetwork(HostNetwork):
    """IP over InfiniBand for Storage Scale's daemons, on one port of every GPU host."""

    port: str = Field(description="device of the port, e.g. mlx5_1")
    taken: tuple[IPv4Address, ...] = Field(
        default=(), description="addresses in use by other hosts, e.g. the storage's"
    )

    others: dict[str, IPv4Address] = Field(
        default={}, description="servers of the storage, which are no nodes of the cluster -> their addresses"
    )

    @field_validator("taken")
    @classmethod
    def _sorted(cls, addresses: tuple[IPv4Address, ...]) -> tuple[IPv4Address, ...]:
        return tuple(sorted(set(addresses)))

    @model_validator(mode="after")
    def _others_inside_and_once(self) -> Self:
        seen = dict.fromkeys(self.taken, "another machine (taken)")
        seen |= {address: host for host, address in self.addresses.items()}
        for host, address in self.others.items():
            if problem := unfit(address, self.network):
                raise ValueError(f"others.{host}: {problem}")
            if address in seen:
                raise ValueError(f"others.{host}: {address} is taken by {seen[address]}; give another one")
            seen[address] = host
        return self


class Networks(Model):
    """Networks of the hosts; no two overlap."""

    admin: HostNetwork | None = Field(default=None, description="where hosts are reached, e.g. by Ansible")
    daemon: DaemonNetwork | None = Field(default=None, description="None: Storage Scale uses the admin network alone")
    cluster: tuple[IPv4Network, ...] = Field(
        default=(), description="subnets of pods, services and machines, as installed; no daemon is in them"
    )

    @model_validator(mode="after")
    def _disjoint_networks(self) -> Self:
        if self.daemon is None:
            return self
        others = [*([("admin.network", self.admin.network)] if self.admin else [])]
        others += [("cluster", network) for network in self.cluster]
        for name, network in others:
            if network.overlaps(self.daemon.network):
                raise ValueError(f"daemon.network {self.daemon.network} overlaps {name} {network}; use another network")
        return self


def unfit(address: IPv4Address, network: IPv4Network) -> str | None:
    """Return why a host of the network cannot have an address; None: it can."""
    if address not in network:
        return f"{address} is outside of {network}; give one inside"
    if network.prefixlen < 31 and address in {network.network_address, network.broadcast_address}:  # noqa: PLR2004
        return f"{address} is the network's own or its broadcast address; give another one"
    return None
