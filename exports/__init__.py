"""Files for other tools, seeds, charts, pages."""
