"""Documents, views and tables of answers with systolic arrays."""
