"""``python -m ithaca``: the command line."""

from ithaca.cli import main

main()
