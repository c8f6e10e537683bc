"""Functions of Python and of the command line.

Each module is imported when its command is asked for, so that ``ithaca --help`` stays fast.
"""
