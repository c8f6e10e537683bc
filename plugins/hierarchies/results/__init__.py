"""Documents and views."""
