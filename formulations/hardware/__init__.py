"""Hardware as an unknown: spaces of accelerators, what a box of them is at best, and what it
costs."""
