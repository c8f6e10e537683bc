"""Export a configuration to Timeloop, the accelerator model (Parashar et al., ISPASS 2019), in its
format v0.4."""
