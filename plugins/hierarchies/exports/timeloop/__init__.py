"""Export a configuration to Timeloop (Parashar et al., ISPASS 2019), in its format v0.4."""
