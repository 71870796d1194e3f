"""Answers of Spectrum Discover as rows."""

import pytest

from core.datasets.catalogue import CatalogueError
from toolkit.datasets.query_results import from_csv, from_json

ROWS = [("IBM COS", "a2d2", "x/a.png"), ("NFS", "", "b c.png")]


@pytest.mark.parametrize(
    "text",
    [
        '0,"IBM COS","a2d2","x/a.png"\n1,"NFS","","b c.png"\n',
        '0, "IBM COS", "a2d2", "x/a.png"\n1, "NFS", "", "b c.png"\n',
        "0,IBM COS,a2d2,x/a.png\r\n1, NFS, , b c.png\r\n\r\n",
        '0,"IBM COS",a2d2, x/a.png\n1,NFS,,"b c.png"',
    ],
)
def test_csv_with_and_without_quotes(text: str) -> None:
    """Both printed forms are read, with blanks after commas, without quotes, and with lines of Windows."""
    assert from_csv(text) == ROWS


def test_a_quoted_name_with_anything() -> None:
    """A quoted value may have commas, quotes and newlines."""
    assert from_csv('0,"a,b ""c""\nd"\n') == [('a,b "c"\nd',)]


def test_no_rows() -> None:
    """A query that finds nothing has an empty answer."""
    assert from_csv("") == from_csv("\n") == from_json("[]") == []


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ('0,"a\n', "is not CSV"),
        ('0,"a"b\n', "is not CSV"),
        ("0,a\n2,b\n", "record 1 of the answer is broken: '2,b'"),
        ("0,a\n1,b,c\n", "has 3 values, the first has 2; .*ask for JSON"),
        ("0,a,b\n1,c\nd\n", "record 1"),
        ("platform\n", "record 0"),
    ],
)
def test_broken_csv_is_refused(text: str, part: str) -> None:
    """A record that is cut off, lost, or broken over lines is an error and no wrong row."""
    with pytest.raises(CatalogueError, match=part):
        from_csv(text)


def test_json_keeps_order_and_digits() -> None:
    """Columns are in the order of the query; large numbers keep their digits, and null is empty."""
    text = '[{"b": "x", "a": 16217308676014575381, "c": 22.22743915175, "d": 5.0, "e": null}]'
    assert from_json(text) == [("x", "16217308676014575381", "22.22743915175", "5", "")]


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("[", "is not JSON"),
        ('{"status": "failed: SQL0204N"}', "not a list of records: .*SQL0204N"),
        ("[1]", "not a list of records"),
        ('[{"a": 1}, {"b": 1}]', "differ in their columns"),
    ],
)
def test_other_json_is_refused(text: str, part: str) -> None:
    """JSON that is not a list of like records is an error with what came."""
    with pytest.raises(CatalogueError, match=part):
        from_json(text)
