"""How an operation can end other than well, and what reading finds."""

from dataclasses import dataclass

from toolkit.engine.prediction.values import Properties


class PartialError(Exception):
    """The object exists and is recorded, but is not ready; the next update tries again."""

    def __init__(self, identifier: str, outputs: Properties, inputs: Properties | None, reasons: list[str]) -> None:
        super().__init__(reasons[0])
        self.identifier = identifier
        self.outputs = outputs
        self.inputs = inputs
        self.reasons = reasons


@dataclass(frozen=True)
class Found:
    """What a refresh or import finds."""

    identifier: str
    outputs: Properties
    inputs: Properties
