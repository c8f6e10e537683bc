"""Results: what a solve answers, as types and as documents."""
