"""The programs that are played, by the last part of their path."""

from collections.abc import Mapping
from types import MappingProxyType

from simulator.performance.printed import Program

PROGRAMS: Mapping[str, Program] = MappingProxyType({})
"""Name of a program, or of a Python script -> what plays it. One that is not here prints nothing and succeeds."""

IMAGES: Mapping[str, Program] = MappingProxyType({})
"""Last part of an image's repository -> what plays the program that the image starts by itself."""
