"""The command line: it parses options, calls the layers below, and prints their answers.

Each module is imported when its command is asked for, so that ``ithaca --help`` stays fast.
"""
