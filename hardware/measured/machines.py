"""Names of the machines on which the documents measured."""

REDPAPER_MACHINE = "dgx1-v100-16gb"
"""R-2.1-1."""
SUPERMICRO_MACHINE = "sys-4029gp-tvrt"
"""S-1.2."""
