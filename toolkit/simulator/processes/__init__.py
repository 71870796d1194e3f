"""The processes of a simulated cluster: their command lines, ports, records, start and end."""
