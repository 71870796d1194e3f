"""The frames that a catalogue has of a choice, completed, reduced, divided and counted: a lock and lists of files.

Pure: rows in, bytes out, the same for any order of the rows.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from core.datasets import catalogue
from core.datasets.card import LABEL, Card
from core.datasets.catalogue import file_name
from core.datasets.choice import Choice
from core.datasets.lock import Chosen, Lock
from core.errors import DataSetError
from core.wording import plural
from toolkit.datasets import file_list, split
from toolkit.datasets.file_list import File

LARGEST_LIST = 256 << 20
"""Bytes of a list: two million files with names as A2D2's. Every pod that stages or proves it reads it whole."""
Row = Sequence[str]


class Frame(NamedTuple):
    """One image that fits, with all that goes with it."""

    path: str
    """Of the image, from the volume's root."""
    scene: str
    files: tuple[File, ...]
    pixels: tuple[int, ...]
    """Of each class, in the order of the card."""


class Selection(NamedTuple):
    """A lock, and the list of files of the set (by an empty name) and of every split."""

    lock: Lock
    lists: Mapping[str, bytes]


def select(
    choice: Choice,
    card: Card,
    rows: Iterable[Row],
    files: Iterable[Row],
    as_of: str,
    *,
    scores: Mapping[str, float] | None = None,
) -> Selection:
    """Return what is chosen of the `rows` of `query.frames`, completed from the `files` of `query.FILES`.

    `as_of` is the catalogue's time; frames with greater `scores`, by their path, come first. Raises DataSetError where
    no frame fits, a label is missing, a minimum is not met, or a list cannot be written.
    """
    fitting = _frames(choice, card, rows, files)
    if not fitting:
        raise DataSetError(
            f"data set {choice.name}: no frame of the catalogue fits cameras and pixels; widen the windows"
            " (`./hpc data stats` shows what the classes have), or index again"
        )
    chosen = _reduced(choice, card, fitting, scores)
    counted, listed = _counted(chosen, card)
    divided = dict(_divided(choice, card, chosen))
    missing = [*_missing("at_least", choice.at_least, counted)]
    for part, at_least in choice.split.at_least.items() if choice.split else ():
        missing += _missing(f"split.at_least.{part}", at_least, divided[part][0])
    if missing:
        raise DataSetError(f"data set {choice.name}: {'; '.join(missing)}; widen the windows, or lower it")
    lock = Lock(
        name=choice.name,
        card=choice.card,
        query=catalogue.frames(choice, card),
        source=choice.source.kind,
        as_of=_time(as_of),
        choice=choice.content,
        splits={name: part for name, (part, _) in divided.items()},
        **dict(counted),
    )
    return Selection(lock, {"": listed, **{name: text for name, (_, text) in divided.items()}})


def _frames(choice: Choice, card: Card, rows: Iterable[Row], files: Iterable[Row]) -> list[Frame]:
    """Return the frames by their paths; their order has no effect later."""
    sizes = {(row[0], row[1], _name(choice, row)): row[4] for row in files}
    frames: dict[tuple[str, str, str], Frame] = {}
    for row in rows:
        if len(row) != len(catalogue.FILE_COLUMNS) + len(card.class_tags):
            raise DataSetError(f"a record of the catalogue has {len(row)} values: {row[:4]}; ask it again")
        platform, source, size = row[0], row[1], row[4]
        name = _name(choice, row)
        frame = card.naming.frame(name)
        if frame is None:
            raise DataSetError(
                f"file {name!r} of {platform}/{source} is not named as an image of card {card.name}; correct the "
                "card, or the location's base"
            )
        if (platform, source, name) in frames:
            raise DataSetError(f"file {name!r} of {platform}/{source} is in the catalogue twice; index again")
        names = {name: size}
        for what, companion in card.naming.companions(name).items():
            bytes_ = sizes.get((platform, source, companion))
            if bytes_ is not None:
                names[companion] = bytes_
            elif what == LABEL:
                raise DataSetError(
                    f"frame {name!r} has no label: {companion!r} is not in the catalogue; add the file and index "
                    "again, or remove the frame"
                )
        folder = _folder(choice, platform, source)
        listed = tuple(File(folder + path, _number(text, path, "bytes")) for path, text in names.items())
        pixels = tuple(
            _number(text, name, f"pixels of {tag}") for tag, text in zip(card.class_tags, row[5:], strict=True)
        )
        frames[platform, source, name] = Frame(folder + name, frame.scene, listed, pixels)
    if not choice.locations and len(sources := sorted({key[:2] for key in frames})) > 1:
        first, second = ("/".join(key) for key in sources[:2])
        raise DataSetError(f"frames are in {first} and in {second}, and locations are not given; give each its folder")
    return sorted(frames.values())


def _name(choice: Choice, row: Row) -> str:
    platform, source, path, name = row[:4]
    location = choice.locations.get(f"{platform}/{source}")
    return file_name(platform, path, name, location.base if location else "")


def _folder(choice: Choice, platform: str, source: str) -> str:
    if not choice.locations:
        return ""
    location = choice.locations.get(f"{platform}/{source}")
    if location is None:
        raise DataSetError(
            f"locations: frames are in {platform}/{source}, and only {', '.join(choice.locations)} has a folder; add "
            "where the volume has it"
        )
    return f"{location.folder}/" if location.folder else ""


def _number(text: str, path: str, what: str) -> int:
    try:
        number = int(text)
    except ValueError:
        number = -1
    if number < 0:
        raise DataSetError(f"file {path!r}: {what} are {text!r} in the catalogue, and no number; index its label again")
    return number


def _reduced(choice: Choice, card: Card, fitting: Sequence[Frame], scores: Mapping[str, float] | None) -> list[Frame]:
    """Return at most as many frames as are wanted: first of the rare classes, the rarest one first, then any.

    Of equal right are those with the greatest scores, and without scores a random order that is always the same.
    """
    most = choice.most_frames
    if most is None or len(fitting) <= most:
        return [*fitting]
    order = sorted(fitting, key=lambda frame: split.mixed(frame.path))
    if scores is not None:
        if without := [frame.path for frame in fitting if frame.path not in scores]:
            raise DataSetError(
                f"scores: {plural(len(without), 'frame has', 'frames have')} none, e.g. {without[0]!r}; let the model "
                "score them, or correct the paths, which are those on the volume"
            )
        order.sort(key=lambda frame: -scores[frame.path])
    selected: dict[str, Frame] = {}
    index = {name: place for place, name in enumerate(card.class_tags)}
    holders = {name: [frame for frame in order if frame.pixels[index[name]]] for name in choice.at_least}
    for name in sorted(holders, key=lambda tag: (len(holders[tag]), tag)):
        missing = choice.at_least[name] - sum(bool(frame.pixels[index[name]]) for frame in selected.values())
        others = (frame for frame in holders[name] if frame.path not in selected)
        selected |= {frame.path: frame for _, frame in zip(range(missing), others, strict=False)}
    if len(selected) > most:
        raise DataSetError(
            f"data set {choice.name}: at_least needs {len(selected)} frames, and most_frames is {most}; raise it, or "
            "lower at_least"
        )
    for frame in order:
        if len(selected) == most:
            break
        selected.setdefault(frame.path, frame)
    return [*selected.values()]


def _counted(frames: Sequence[Frame], card: Card) -> tuple[Chosen, bytes]:
    files = [file for frame in frames for file in frame.files]
    listed = file_list.text(files)
    if len(listed) > LARGEST_LIST:
        raise DataSetError(
            f"the list of {len(files):,} files has {len(listed):,} bytes, and at most {LARGEST_LIST:,} are read; "
            "set most_frames, or divide the data set"
        )
    by_class = dict(zip(card.class_tags, zip(*(frame.pixels for frame in frames), strict=True), strict=True))
    return (
        Chosen(
            frames=len(frames),
            files=len(files),
            bytes=sum(file.size for file in files),
            digest=file_list.digest(listed),
            frames_by_class={name: sum(map(bool, pixels)) for name, pixels in by_class.items()},
            pixels_by_class={name: sum(pixels) for name, pixels in by_class.items()},
        ),
        listed,
    )


def _missing(place: str, at_least: Mapping[str, int], chosen: Chosen) -> Iterator[str]:
    for name, least in at_least.items():
        if (frames := chosen.frames_by_class[name]) < least:
            yield f"{place}.{name} {least}, and {plural(frames, 'frame has', 'frames have')} it"


def _divided(choice: Choice, card: Card, frames: Sequence[Frame]) -> Iterator[tuple[str, tuple[Chosen, bytes]]]:
    if choice.split is None:
        return
    scenes: dict[str, list[Frame]] = {}
    for frame in frames:
        scenes.setdefault(frame.scene, []).append(frame)
    part_of = split.parts({name: len(members) for name, members in scenes.items()}, choice.split.parts)
    for part in choice.split.parts:
        yield (
            part,
            _counted([frame for scene, members in scenes.items() if part_of[scene] == part for frame in members], card),
        )


def _time(text: str) -> datetime:
    """Return the catalogue's time, taken as UTC where it has no zone."""
    try:
        time = datetime.fromisoformat(text.strip())
    except ValueError:
        raise DataSetError(f"the catalogue's time {text!r} is none; index again") from None
    return time if time.tzinfo else time.replace(tzinfo=UTC)
