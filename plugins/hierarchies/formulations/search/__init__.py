"""The stage of the edition ``timeloop``: mappings searched from the multipliers outwards, with
proofs."""
