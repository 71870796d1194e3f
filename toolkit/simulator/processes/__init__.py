"""The processes of a simulated cluster: their command lines, ports, records, start and end."""

from toolkit.simulator.processes.supervisor import Command, Processes, Record

__all__ = ["Command", "Processes", "Record"]
