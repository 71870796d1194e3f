"""Pages of a simulated cluster's metrics, as a Prometheus reads them."""

from urllib.request import urlopen


def page(address: str, path: str) -> str:
    """Return the text of a path of the server at an address."""
    with urlopen(f"{address}/{path.lstrip('/')}", timeout=10) as answer:  # noqa: S310 - loopback
        return str(answer.read().decode())
