"""Reports: a run as a page and as a summary. Only `page` draws, and so needs matplotlib."""
