"""How benchmarks print what they measured: each figure with its goal, and on what machine it was."""

import os

from toolkit.cli.shared.console import console


def judge(title: str, value: float, limit: float, *, least: bool = False) -> bool:
    """Print a figure with its goal, the most or the `least` that it may be; return whether it reaches the goal."""
    reached = value >= limit if least else value <= limit
    word, sign = "reaches" if reached else "MISSES", ">=" if least else "<="
    console.print(f"  {title:52} {value:8.2f}  {word} the goal of {sign} {limit:g}")
    return reached


def print_machine() -> None:
    """Print what else the figures depend on: CPUs, and how busy they were."""
    console.print(f"measured on {os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f} at the end")
