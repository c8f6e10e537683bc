"""The sections of a report that only configurations of systolic arrays have."""
