"""The workers in HAProxy's back ends of the ingress: ports 80 and 443."""

from collections.abc import Iterator

from stacks.site.site import Site
from toolkit.site.output import File

PATH = "hosts/haproxy-ingress.cfg"
PORTS = (80, 443)
_NOTE = (
    "# For HAProxy beside your own file, which has the timeouts (defaults) and no sections of these names:\n"
    "# haproxy -f /etc/haproxy/haproxy.cfg -f FILE"
)


def files(site: Site) -> Iterator[File]:
    """Yield the part of HAProxy's configuration; nothing where there is no HAProxy."""
    routers = site.settings.haproxy
    if routers is None:
        return
    hosts = [host for host in site.hosts if (host.name in routers if routers else "worker" in host.roles)]
    sections = [
        "\n    ".join(
            (
                f"listen ingress-router-{port}",
                f"bind *:{port}",
                "mode tcp",
                "balance source",
                *(
                    f"server {host.short} {site.admin_address(host) or host.name}:{port} check inter 1s"
                    for host in hosts
                ),
            )
        )
        for port in PORTS
    ]
    yield File(PATH, "\n\n".join((_NOTE, *sections)) + "\n", sources=("R-3.2.5-3",))
