"""The Redpaper's three printed queries, as it prints them, on the catalogue of the generated data set."""

import random

import pytest

from tests.support.catalogues import generated_catalogue
from tests.support.printed_queries import BICYCLES, PRINTED_BICYCLES, PRINTED_WINDOW, SHARE, WINDOW, printed
from tests.support.rounds import ROUNDS
from toolkit.datasets import generated
from toolkit.datasets.sqlite_catalogue import SqliteCatalogue


@pytest.fixture(scope="module")
def catalogue(tmp_path_factory: pytest.TempPathFactory) -> SqliteCatalogue:
    """Return the catalogue of the generated data set."""
    return generated_catalogue(tmp_path_factory.mktemp("catalogue") / "a2d2.db", generated.LEAST)


def test_the_share_of_a_class(catalogue: SqliteCatalogue) -> None:
    """The query of a share gives the printed one, and for road blocks the one that the text compares it with."""
    ((street,),) = catalogue.ask(SHARE)
    assert float(street) == pytest.approx(22.22743915175, abs=1e-6)
    ((blocks,),) = catalogue.ask(SHARE.replace("rd_normal_street", "road_blocks"))
    assert float(blocks) == pytest.approx(0.85, abs=1e-6)


def test_frames_with_bicycles(catalogue: SqliteCatalogue) -> None:
    """The query of a window gives the five printed rows and those of the window; other cameras see more bicycles."""
    assert set(catalogue.ask(BICYCLES)) == printed(PRINTED_BICYCLES) | printed(PRINTED_WINDOW)
    ((all_cameras,),) = catalogue.ask("select count(*) from t_bicycle where int(value) > 0")
    assert int(all_cameras) > 14


def test_frames_in_a_window(catalogue: SqliteCatalogue) -> None:
    """The query of files gives exactly the nine printed rows."""
    rows = catalogue.ask(WINDOW)
    assert len(rows) == 9
    assert set(rows) == printed(PRINTED_WINDOW)


def test_the_wide_form_of_the_window(catalogue: SqliteCatalogue) -> None:
    """The view has tags as numbers in columns, so that the question is a line."""
    where = "front=1 and center=1 and car between 10000 and 20000 and bicycle>=3000 and bicycle<=5000"
    where += " and pedestrian between 500 and 6000"
    rows = catalogue.ask(f"select platform,datasource,filename from metaocean_view where {where}")  # noqa: S608
    assert set(rows) == printed(PRINTED_WINDOW)


def test_random_windows_are_those_of_brute_force(catalogue: SqliteCatalogue) -> None:
    """1,000 windows, or HPC_ROUNDS times as many, over three classes and a camera find what a loop finds."""
    card = generated.card()
    frames = [(each.image, card.cameras[each.camera], each.pixels) for each in generated.frames(generated.LEAST)]
    chance = random.Random(5)  # noqa: S311 - windows that are the same in every run
    counts = {tag: sorted(pixels.get(tag, 0) for _, _, pixels in frames) for tag in card.class_tags}
    found = 0
    for _ in range(1_000 * ROUNDS):
        tags = chance.sample(card.class_tags, 3)
        camera = chance.choice([*card.cameras.values()])
        limits = {tag: sorted(chance.choices(counts[tag], k=2)) for tag in tags}
        conditions = [
            *(f"t_{tag}.fkey=metaocean.fkey" for tag in (*camera, *tags)),
            *(f"int(t_{tag}.value)=1" for tag in camera),
            *(f"int(t_{tag}.value)>={low} and int(t_{tag}.value)<={high}" for tag, (low, high) in limits.items()),
        ]
        tables = ", ".join(f"t_{tag}" for tag in (*camera, *tags))
        sql = f"select filename from metaocean, {tables} where {' and '.join(conditions)}"  # noqa: S608
        expected = {
            image
            for image, words, pixels in frames
            if words == camera and all(low <= pixels.get(tag, 0) <= high for tag, (low, high) in limits.items())
        }
        assert {row[0] for row in catalogue.ask(sql)} == expected, sql
        found += len(expected)
    assert found > 100 * ROUNDS
