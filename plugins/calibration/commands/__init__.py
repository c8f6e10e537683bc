"""The function and the command of calibrations."""
