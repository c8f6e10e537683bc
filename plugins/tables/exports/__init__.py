"""Files of layers for other tools."""
