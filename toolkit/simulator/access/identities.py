"""Who may talk to the API server: one static token and one kubeconfig for each identity of the cluster itself.

Only the user is system:masters. What the others may do is what RBAC gives them: the built-in roles of the
controller-manager and the scheduler, and the table of toolkit.simulator.access.rbac for the rest.
"""

import csv
import io
import secrets
from dataclasses import dataclass
from pathlib import Path

from core.files import write_atomically
from toolkit.simulator import kubeconfigs
from toolkit.simulator.access import rbac
from toolkit.simulator.access.pki import Pki
from toolkit.simulator.home import Layout

USER = "kube:admin"


@dataclass(frozen=True)
class Identity:
    """A user of the API server; `file` is the name of its kubeconfig below identities/."""

    file: str
    user: str
    groups: tuple[str, ...] = ()


ADMIN = Identity("admin", USER, ("system:masters",))
IDENTITIES = (
    Identity("kube-controller-manager", "system:kube-controller-manager"),
    Identity("kube-scheduler", "system:kube-scheduler"),
    *(Identity(subject.name, subject.user, subject.groups) for subject in rbac.IDENTITIES),
)


def tokens(pki: Pki) -> dict[str, str]:
    """Return the token of every user; those that are missing from the file are created and added to it."""
    stored = _read(pki.tokens)
    identities = (ADMIN, *IDENTITIES)
    token_of_user = {identity.user: stored.get(identity.user) or secrets.token_urlsafe(32) for identity in identities}
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for identity in identities:
        groups = ",".join(identity.groups)
        writer.writerow([token_of_user[identity.user], identity.user, identity.user, *([groups] if groups else [])])
    if not pki.tokens.exists() or pki.tokens.read_text() != text.getvalue():
        write_atomically(pki.tokens, text.getvalue())
    return token_of_user


def _read(path: Path) -> dict[str, str]:
    if not path.exists():
        return {}
    with path.open(newline="") as file:
        return {row[1]: row[0] for row in csv.reader(file) if len(row) > 1}


def write_kubeconfigs(layout: Layout, pki: Pki, *, cluster: str, server: str) -> dict[str, str]:
    """Write the kubeconfig of every identity that lacks an up-to-date one; return all tokens by user."""
    ca = pki.ca.read_bytes()
    secret = tokens(pki)
    files = {layout.kubeconfig: ADMIN, **{layout.identity(identity.file): identity for identity in IDENTITIES}}
    for path, identity in files.items():
        text = kubeconfigs.text(cluster=cluster, server=server, ca=ca, user=identity.user, token=secret[identity.user])
        if not path.exists() or path.read_text() != text:
            write_atomically(path, text)
    return secret
