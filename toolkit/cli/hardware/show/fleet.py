"""What a fleet of vehicles records, and which rate takes it in before the next day's."""

from core.data_files import ROOT, read
from toolkit.cli.hardware.show.section import Row, Section

FILE = ROOT / "core" / "datasets" / "recordings.yaml"
_DAY = 24 * 3600
_DAYS = 250
"""Days on which a fleet drives in a year; a choice."""


def sections(vehicles: int, hours: int) -> tuple[Section, ...]:
    """Return volume and rate of a fleet whose vehicles drive `hours` a day, and sizes of public data sets beside it."""
    data = read(FILE)
    vehicle = data["vehicle"]
    rows = tuple(
        _row(what, vehicle[field] * hours / vehicle["hours"], vehicles)
        for what, field in (("least", "least_tb"), ("most", "most_tb"))
    )
    note = f"{vehicle['least_tb']} to {vehicle['most_tb']} TB of a vehicle in {vehicle['hours']} h; {_DAYS} days a year"
    public: Row = dict(data["data_sets"])
    return (
        Section(f"Recordings of {vehicles} vehicles, {hours} h a day", rows, (note,), source=data["source"]),
        Section("Public data sets", (public,), source=data["source"]),
    )


def _row(what: str, of_vehicle: float, vehicles: int) -> Row:
    day = of_vehicle * vehicles
    return {
        "recording": what,
        "of a vehicle, TB a day": f"{of_vehicle:,.2f}",
        "of the fleet, TB a day": f"{day:,.1f}",
        "PB a year": f"{day * _DAYS / 1000:,.2f}",
        "GB/s to take it in within a day": f"{day * 1000 / _DAY:,.2f}",
    }
