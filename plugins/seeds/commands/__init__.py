"""The command that writes start populations."""
