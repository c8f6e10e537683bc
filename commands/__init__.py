"""What the command line does: parse options, call the layers, print.

Each module is imported when its command is asked for, so that ``ithaca --help`` stays fast.
"""
