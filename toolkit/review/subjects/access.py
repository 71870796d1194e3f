"""Who may use which SecurityContextConstraints, and what pods of a namespace may have by that."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property

from core.apis import kinds
from policies.manifests.inventory import Inventory
from policies.manifests.values import entries
from policies.scc.rbac import Rbac
from policies.scc.shipped import shipped_roles
from policies.views.accounts import DEFAULT, Accounts
from policies.views.constraints import WIDE_GROUPS
from toolkit.review.indexed_review import IndexedReview, Side
from toolkit.review.model import Op
from toolkit.review.section import Line, Section, section
from toolkit.review.sentences import enumerated, name, names
from toolkit.review.subjects.sccs import ORDINARY, powers, ranked

KINDS = (
    kinds.SECURITY_CONTEXT_CONSTRAINTS,
    kinds.ROLE,
    kinds.CLUSTER_ROLE,
    kinds.ROLE_BINDING,
    kinds.CLUSTER_ROLE_BINDING,
    kinds.SERVICE_ACCOUNT,
)
_ACCOUNT = "system:serviceaccount:"
_Account = tuple[str, str]


class Access:
    """Who may use which SCC on one side."""

    def __init__(self, side: Side, indexed: IndexedReview) -> None:
        inventory: Inventory = side.inventory(*KINDS, kinds.NAMESPACE)
        self._release = indexed.release
        self.accounts = Accounts(inventory, indexed.release)
        self._trees = [rbac_object.tree for kind in KINDS[1:5] for rbac_object in inventory.of(kind)]
        self.existing = {(account.namespace, account.name) for account in inventory.of(kinds.SERVICE_ACCOUNT)}
        self.existing |= {(namespace.name, DEFAULT) for namespace in inventory.of(kinds.NAMESPACE)}
        self.own = {scc.name for scc in inventory.of(kinds.SECURITY_CONTEXT_CONSTRAINTS)}

    @cached_property
    def powers(self) -> Mapping[str, frozenset[str]]:
        """What each SCC gives."""
        return {scc: powers(tree) for scc, tree in self.accounts.sccs.items()}

    @cached_property
    def holders(self) -> set[tuple[str, str, str, str]]:
        """SCC, kind and name of each user, group or account that is granted it, and where; empty is everywhere."""
        holders = set()
        for grant in Rbac(self._trees, shipped_roles(self._release)).grants:
            for scc in (EVERY,) if grant.names is None else grant.names:
                holders |= {(scc, *subject.key, grant.namespace) for subject in grant.subjects}
        for scc in self.own:
            tree = self.accounts.sccs[scc]
            for field, kind in (("users", "User"), ("groups", "Group")):
                holders |= {(scc, kind, entry, "") for entry in entries(tree, field) if isinstance(entry, str)}
        return holders

    def usable(self, account: _Account) -> frozenset[str]:
        """Return the SCCs that pods of an account may use."""
        return self.accounts.usable(*account)

    def gives(self, sccs: Iterable[str]) -> frozenset[str]:
        """Return what several SCCs give together."""
        return frozenset().union(*(self.powers.get(scc, frozenset()) for scc in sccs))


EVERY = "*"


@dataclass(frozen=True)
class _Move:
    """What becomes of the rights of one account."""

    account: _Account
    gained: frozenset[str]
    lost: frozenset[str]
    before: frozenset[str]
    more: frozenset[str]
    less: frozenset[str]


def find(indexed: IndexedReview) -> Section | None:
    """Report who gains or loses the use of SCCs."""
    if not indexed.changed(*KINDS):
        return None
    old, new = (Access(side, indexed) for side in (indexed.before, indexed.after))
    accounts = {*old.existing, *new.existing, *_named(old), *_named(new)}
    moves = [move for account in sorted(accounts) if (move := _move(account, old, new)) is not None]
    lines = [
        *_powers(moves),
        *(Line(_words(move)) for move in moves if not move.more and not move.less),
        *_others(old, new),
        *_undetermined(new, moves, _removed_grants(indexed)),
    ]
    return section("Who may run which pods", lines, vital=True)


def _named(side: Access) -> Iterator[_Account]:
    for _, kind, subject, _ in side.holders:
        if kind == "User" and subject.startswith(_ACCOUNT):
            namespace, _, account = subject.removeprefix(_ACCOUNT).partition(":")
            yield namespace, account


def _move(account: _Account, old: Access, new: Access) -> _Move | None:
    before, after = old.usable(account), new.usable(account)
    was, will = old.gives(before), new.gives(after)
    if (before, was) == (after, will):
        return None
    return _Move(account, after - before, before - after, before, will - was, was - will)


def _powers(moves: list[_Move]) -> Iterator[Line]:
    for attribute, may in (("more", "may now run"), ("less", "may no longer run")):
        groups: dict[frozenset[str], list[_Move]] = defaultdict(list)
        for move in moves:
            if privileges := getattr(move, attribute):
                groups[privileges].append(move)
        for privileges, affected in sorted(groups.items(), key=lambda item: ranked(item[0])):
            spaces = sorted({move.account[0] for move in affected})
            word = "namespace" if len(spaces) == 1 else "namespaces"
            yield Line(
                f"{word} {names(spaces)} {may} pods with {enumerated(ranked(privileges), 12)}",
                tuple(_words(move) for move in affected),
                alarm=attribute == "more" and not privileges <= ORDINARY,
            )


def _words(move: _Move) -> str:
    account = f"account {name('/'.join(move.account))}"
    parts = []
    if move.gained:
        before = f"{names(sorted(move.before))} only" if move.before else "none"
        parts.append(f"may now use SCC {names(sorted(move.gained))} (was: {before})")
    if move.lost:
        parts.append(f"may no longer use SCC {names(sorted(move.lost))}")
    return f"{account} {' and '.join(parts)}" if parts else f"{account}, by an SCC that it may use already"


def _others(old: Access, new: Access) -> Iterator[Line]:
    """Report the same of users and groups; accounts have lines of their own."""
    for now, holders in (("may now", new.holders - old.holders), ("may no longer", old.holders - new.holders)):
        groups: dict[tuple[str, str, str], list[str]] = defaultdict(list)
        for scc, kind, subject, where in holders:
            if not subject.startswith(_ACCOUNT):
                groups[kind.lower(), subject, where].append(scc)
        for (kind, subject, where), sccs in sorted(groups.items()):
            what = "every SCC" if EVERY in sccs else f"SCC {names(sorted(sccs))}"
            place = f" for pods of namespace {name(where)}" if where else ""
            wide = kind == "group" and any(fnmatchcase(subject, pattern) for pattern in WIDE_GROUPS)
            yield Line(
                f"{kind} {name(subject)} {now} use {what}{place}", alarm=now == "may now" and (wide or not where)
            )


def _removed_grants(indexed: IndexedReview) -> set[tuple[str, str]]:
    """Return namespace and name of each role and SCC that is removed, and so grants nothing."""
    removed = (
        change
        for change in indexed.changed(kinds.SECURITY_CONTEXT_CONSTRAINTS, kinds.ROLE, kinds.CLUSTER_ROLE)
        if not change.after
    )
    return {
        (change.resource.namespace, f"{change.resource.kind} {change.resource.object_name}")
        for change in removed
        if change.op is not Op.FORGET
    }


def _undetermined(new: Access, moves: list[_Move], removed_grants: set[tuple[str, str]]) -> Iterator[Line]:
    if new.accounts.uncertain:
        yield Line(
            "not all is known before the update: an SCC, a role or a binding has a value that only it will bring"
        )
    for move in moves:
        missing = new.accounts.undecided(*move.account)
        if missing and removed_grants.isdisjoint({("", missing), (move.account[0], missing)}):
            yield Line(
                f"account {name('/'.join(move.account))} is bound to {name(missing)}, which is not among the objects: "
                "what that adds could not be determined"
            )
