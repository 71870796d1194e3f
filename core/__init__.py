"""What all rooms share: API kinds and names, machines and fabrics, data sets, files, errors and base models."""
