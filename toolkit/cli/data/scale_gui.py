"""The management interface of Storage Scale (REST v2, the GUI's), as far as the state of caches needs it: GETs alone.

Paths and fields are those of IBM's documentation of 5.0 and later, and of IBM's CSI driver, which calls the same. The
list of `afm/state` is printed broken there; its name is taken from the example of its entries.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from urllib.parse import parse_qs, quote, urlsplit

import requests

from core.errors import UserError

_BASE = "/scalemgmt/v2"
_SECONDS = 60.0
"""Until an answer, as the CSI driver has it."""
_PAGES = 1000
_SHOWN = 200


class ScaleGuiError(UserError):
    """The management interface cannot be read; the message has the host, what it says, and the remedy."""


class Cache(NamedTuple):
    """One cache: a fileset with a home."""

    fileset: str
    target: str
    """The home, e.g. nfs://host/export."""
    state: str
    gateway: str
    queue: int
    """Operations that wait for the home."""
    used: int | None = None
    """Bytes in use; None: no quota is set, so that nothing is evicted by itself."""
    soft: int | None = None
    """Soft quota, beyond which files are evicted, bytes."""
    hard: int | None = None
    """Hard quota, beyond which nothing is fetched, bytes."""


@dataclass
class ScaleGui:
    """One GUI. Certificates are always verified; the password is in no message."""

    host: str
    user: str
    password: str = field(repr=False)
    ca: str | None = None
    """File with the certificate of its CA; None: one that the machine trusts."""
    others: tuple[str, ...] = ()
    """Further GUIs of the cluster, for when the first one cannot be reached."""
    _session: requests.Session = field(default_factory=requests.Session, repr=False, init=False)

    def caches(self, file_system: str) -> tuple[Cache, ...]:
        """Return the caches of a file system with what they use, sorted by fileset; raise ScaleGuiError."""
        place = f"/filesystems/{quote(file_system, safe='')}"
        quotas = {
            str(quota.get("objectName")): quota
            for quota in self._all(f"{place}/quotas", "quotas")
            if str(quota.get("quotaType", "FILESET")).upper() == "FILESET"
        }
        caches = (_cache(entry, quotas) for entry in self._all(f"{place}/afm/state", "filesetAfmStateList"))
        return tuple(sorted(caches))

    def cluster_id(self) -> str:
        """Return the id of the GUI's cluster, with all its digits: as a number it is beyond what a float holds."""
        summary = (self._get("/cluster", {}).get("cluster") or {}).get("clusterSummary") or {}
        cluster_number = _number(summary.get("clusterId"))
        if cluster_number is None:
            raise ScaleGuiError(f"{self.host} answers /cluster without a whole clusterId; see its version")
        return str(cluster_number)

    def file_system(self, uid: str) -> str:
        """Return the name of the file system with a UID, as its own cluster calls it; raise ScaleGuiError."""
        names = [str(entry.get("name")) for entry in self._all("/filesystems", "filesystems", filter=f"uuid={uid}")]
        if len(names) != 1:
            raise ScaleGuiError(
                f"{self.host} has {len(names)} file systems of UID {uid}; see whether it is their owner"
            )
        return names[0]

    def _all(self, path: str, name: str, **query: str) -> Iterator[Mapping[str, Any]]:
        """Yield the entries of a list, page by page."""
        more = query
        for _ in range(_PAGES):
            answer = self._get(path, more)
            entries = answer.get(name)
            if not isinstance(entries, list):
                raise ScaleGuiError(f"{self.host} answers {path} without {name}; see its version: 5.0 or later has it")
            yield from (entry for entry in entries if isinstance(entry, dict))
            paging = answer.get("paging")
            # Only the position is taken from the link: the account is for this host alone.
            following = parse_qs(urlsplit(str(paging.get("next", ""))).query) if isinstance(paging, dict) else {}
            if "lastId" not in following:
                return
            more = {**query, "lastId": following["lastId"][0]}
        raise ScaleGuiError(f"{self.host} answers {path} with more than {_PAGES} pages; check its state")

    def _get(self, path: str, query: Mapping[str, str]) -> Mapping[str, Any]:
        """Return what a path has, from the first GUI that can be reached."""
        hosts = (self.host, *self.others)
        for host in hosts:
            self.host = host
            try:
                answer = self._session.get(
                    f"https://{host}{_BASE}{path}",
                    params={"fields": ":all:", **query},
                    headers={"Accept": "application/json"},
                    auth=(self.user, self.password),
                    verify=True if self.ca is None else self.ca,
                    timeout=_SECONDS,
                    allow_redirects=False,
                )
            except requests.exceptions.SSLError:
                raise ScaleGuiError(
                    f"{host}: its certificate is not trusted, or is another host's; give the CA as ca_certificate"
                ) from None
            except requests.RequestException as error:
                why = type(error).__name__
                continue
            self.others = tuple(other_host for other_host in hosts if other_host != host)
            return self._content(path, answer)
        raise ScaleGuiError(
            f"{', '.join(hosts)} cannot be reached ({why}); see whether this machine may, and ask again"
        )

    def _content(self, path: str, answer: requests.Response) -> Mapping[str, Any]:
        try:
            content: Any = answer.json()
        except ValueError:
            content = None
        if answer.status_code == requests.codes.ok and isinstance(content, dict):
            return content
        status = content.get("status") if isinstance(content, dict) else None
        message = str(status.get("message", "")) if isinstance(status, dict) else answer.text
        message = message.replace(self.password, "...")[:_SHOWN].strip()
        raise ScaleGuiError(
            f"{self.host} answers {path} with {answer.status_code}{f': {message}' if message else ''}; "
            + _REMEDIES.get(answer.status_code, "ask again, or see the logs of the GUI")
        )


_REMEDIES = {
    400: "correct the name of the file system in the settings",
    401: "correct the account",
    403: "give the account a role that may read, e.g. Monitor",
    404: "correct the name of the file system, or see the version of the GUI",
}


def _cache(state: Mapping[str, Any], quotas: Mapping[str, Mapping[str, Any]]) -> Cache:
    name = str(state.get("filesetName", ""))
    quota = quotas.get(name, {})
    return Cache(
        fileset=name,
        target=str(state.get("filesetTarget", "")),
        state=str(state.get("cacheState", "")),
        gateway=str(state.get("gatewayNodeName", "")),
        queue=_number(state.get("queueLength")) or 0,
        used=_bytes(quota.get("blockUsage")),
        soft=_bytes(quota.get("blockQuota")) or None,
        hard=_bytes(quota.get("blockLimit")) or None,
    )


def _number(value: Any) -> int | None:
    """Return a whole number, which some versions send as text; None for anything else, a float too."""
    text = str(value).strip()
    return int(text) if text.isdecimal() else None


def _bytes(kib: Any) -> int | None:
    number = _number(kib)
    return None if number is None else number * 1024
