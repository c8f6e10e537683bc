"""The family of systolic arrays, as AutoSA builds them."""
