"""Hardware as an unknown: spaces of accelerators, boxes of them at best, and their costs."""
