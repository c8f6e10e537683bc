"""What one types: the arguments and options of each command, one module per command.

These modules parse, call and print; what a command does is one folder up. They are all imported for
``ithaca --help``, so they import nothing heavy outside their functions.
"""
