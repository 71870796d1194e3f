"""The operating system of the GPU hosts, and which one a release takes."""

from stacks.settings.site.hosts import CoreOsHosts, RedHatHosts
from stacks.site.site import Site

LAST_WITH_PACKAGES = (4, 18)
"""Release after which workers are RHCOS alone (openshift-docs #92899)."""
LAST_WITH_RHEL_7 = (4, 9)
"""Its release notes have both generations; 4.10's have RHEL 8 alone."""
FIRST_WITH_RHEL_8 = (4, 9)


def system(site: Site) -> RedHatHosts | CoreOsHosts | None:
    """Return the settings of the operating system; None: not given, and the release takes more than one."""
    if site.settings.hosts is None and site.version > LAST_WITH_PACKAGES:
        return CoreOsHosts(dialect="rhcos")
    return site.settings.hosts


def refusal(site: Site) -> str | None:
    """Return why the release does not take the operating system that is given; None: it does."""
    dialect, version = site.settings.hosts and site.settings.hosts.dialect, site.version
    if dialect in {"rhel7", "rhel8"} and version > LAST_WITH_PACKAGES:
        return "workers of OpenShift 4.19 and later are RHCOS; use rhcos"
    if dialect == "rhel7" and version > LAST_WITH_RHEL_7:
        return "the last release with RHEL 7 is 4.9; use rhel8 or rhcos"
    if dialect == "rhel8" and version < FIRST_WITH_RHEL_8:
        return "the first release with RHEL 8 is 4.9; use rhel7"
    if dialect == "rhcos" and version[0] < 4:  # noqa: PLR2004 - of the first release with RHCOS
        return "OpenShift 3.11 has no RHCOS; use rhel7"
    return None
