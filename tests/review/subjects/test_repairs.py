"""Drift that an update puts right."""

from review import comment, data, text
from review.model import CHANGED, REDACTED, Change, Op
from review.subjects import repairs
from tests.support.reviews import made, review, told

BINDING = {"metadata": {"name": "mpi", "namespace": "a"}, "subjects": [{"kind": "User", "name": "ann"}]}
OTHER = {**BINDING, "subjects": [*BINDING["subjects"], {"kind": "User", "name": "eve"}]}


def test_what_is_changed_back_is_told() -> None:
    """Prevents a reviewed update that also takes rights away, or makes an object anew, of which nobody was told."""
    kind = "rbac.authorization.k8s.io/v1:RoleBinding"
    gone = made("core/v1:ConfigMap", {"metadata": {"name": "gone"}})
    drifted = (Change(Op.UPDATE, made(kind, BINDING), made(kind, OTHER)), Change(Op.DELETE, gone, None))
    found = review(repairs=drifted)
    said = "\n".join(told(repairs.find, found))
    assert "RoleBinding a/mpi is not as declared, and is changed back" in said
    assert "ConfigMap gone is gone, and is made again" in said
    for written in (text.write(found), comment.write(found)):
        assert "Drift that the update puts right" in written
        assert "eve" in written
        assert "--no-repair" in written
    assert [each["op"] for each in data.of(found)["repairs"]] == ["update", "delete"]


def test_nothing_drifted_nothing_said() -> None:
    """Prevents a section in every comment that says nothing."""
    assert told(repairs.find, review()) == []


def test_secrets_stay_hidden() -> None:
    """Prevents a password in the comment, the old or the new one."""
    before, after = ({"metadata": {"name": "s"}, "data": {"p": value}} for value in (REDACTED, CHANGED))
    change = Change(Op.UPDATE, made("core/v1:Secret", before), made("core/v1:Secret", after))
    assert "is not as declared" in "\n".join(told(repairs.find, review(change, repairs=(change,))))
