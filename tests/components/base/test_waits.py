"""Wait expressions in the provider's own grammar."""

from components.base import waits


def test_one_expression_is_written_plainly_and_several_as_a_list() -> None:
    """One expression is written plainly, several as a JSON list."""
    assert waits.wait_for([waits.condition("Updated")], timeout=5) == {
        "pulumi.com/waitFor": "condition=Updated",
        "pulumi.com/timeoutSeconds": "5",
    }
    both = waits.wait_for([waits.exists(".a"), waits.equals(".b", "c")], timeout=5)["pulumi.com/waitFor"]
    assert both == '["jsonpath={.a}", "jsonpath={.b}=c"]'


def test_expressions_are_read_back() -> None:
    """An object's annotations give the expressions that were written into them."""
    for expressions in (["condition=Updated"], ['jsonpath={.a[?(@.b=="c")].d}', "jsonpath={.b}=c"]):
        assert waits.expressions(waits.wait_for(expressions, timeout=5)) == expressions
    assert waits.expressions(waits.at_most(5)) == []


def test_several_conditions_are_alternatives() -> None:
    """Several conditions are alternatives in one expression."""
    assert waits.any_condition("A") == 'jsonpath={.status.conditions[?(@.type=="A" && @.status=="True")].type}'
    assert waits.any_condition("A", "B").count("||") == 1
