"""The page of the programs' model."""

from toolkit.simulator.performance import programs_page


def test_the_page_is_the_codes() -> None:
    """The page states the code's rules: `python -m toolkit.simulator.performance.programs_page` writes it."""
    assert programs_page.PAGE.read_text() == programs_page.page()
