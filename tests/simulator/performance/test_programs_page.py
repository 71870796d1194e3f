"""The page of the programs' model."""

from simulator.performance import programs_page


def test_the_page_is_the_codes() -> None:
    """Prevents docs that state other rules: run `python -m simulator.performance.programs_page`."""
    assert programs_page.PAGE.read_text() == programs_page.page()
