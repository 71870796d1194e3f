"""What the API server says beside its answers."""

from toolkit.simulator.provider.connection import warning_texts


def test_a_warning_is_shown_whole() -> None:
    """A warning with quotation marks is shown whole."""
    header = '299 - "would violate PodSecurity \\"restricted:latest\\": runAsNonRoot != true"'
    assert warning_texts([header, "299 - nothing"]) == [
        'would violate PodSecurity "restricted:latest": runAsNonRoot != true'
    ]
