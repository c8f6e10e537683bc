"""One physical array for several layers: bounds over all hardware, exact layers, joint buffers."""
