"""What the command line does: parse options, call the layers, print.

Modules here are imported inside the command that needs them, so that ``ithaca --help`` stays fast.
"""
