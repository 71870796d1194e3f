"""The list of criteria is complete: a module that it lacks is refused at import, with its file."""

from types import ModuleType

import pytest

from toolkit.evidence.criteria import refuse_unlisted
from toolkit.evidence.criterion import Criterion

ONE = Criterion(name="c", title="", limit="", applies="", source="", needs=(), judge=lambda _: None)


@pytest.mark.parametrize("parts", [{}, {"CRITERIA": (ONE,)}], ids=["none", "not-listed"])
def test_a_module_that_judges_no_job_is_refused(parts: dict[str, object]) -> None:
    """A module without criteria, or whose criteria are not listed, fails at import."""
    module = ModuleType("toolkit.evidence.criteria.made")
    vars(module).update(parts)
    with pytest.raises(TypeError, match=r"toolkit/evidence/criteria/made\.py.*CRITERIA"):
        refuse_unlisted([module])
