"""Export a configuration to SCALE-Sim, the systolic array simulator (Samajdar et al., ISPASS 2020),
versions 2 and 3."""
