"""The facts that files around the cluster are written from, as the settings have them."""

from sites.content import NOTHING, Content
from sites.settings import SiteSettings
from sites.site import Host, Site
from stacks.fabric_settings import Ethernet, Roce
from stacks.platform import Settings


def of(settings: Settings, stack: str, content: Content = NOTHING) -> Site:
    """Return what `./hpc site` writes files from; `content` is what the manifests name."""
    return Site(
        stack=stack,
        release=settings.release,
        fabric=settings.fabric.kind,
        hosts=tuple(
            Host(
                name=node.name,
                roles=node.roles,
                # With the names of ports that the stack gives, and in the mode of its fabric.
                machine=settings.profile if node.profile else None,
                scale_client=node.scale_client,
            )
            for node in settings.nodes
        ),
        traffic_class=settings.fabric.traffic_class if isinstance(settings.fabric, Roce) else None,
        bonded=bonded(settings),
        image_mirrors=settings.version.image_mirrors,
        content=content,
        given=settings.site or SiteSettings(),
    )


def bonded(settings: Settings) -> tuple[str, ...]:
    """Return the HCAs of each GPU node that are one link by LACP, in the order of the rails; none without a bond."""
    bond = settings.fabric.bond if isinstance(settings.fabric, Ethernet) else None
    if bond is None:
        return ()
    hcas, names = settings.profile.hcas, settings.port_names
    interfaces = names if len(names) == len(hcas) else [hca.netdev for hca in hcas]
    return tuple(
        hca.name for hca, name in zip(hcas, interfaces, strict=True) if bond.ports is None or name in bond.ports
    )
