"""Export a configuration to AutoSA, the systolic array compiler (Wang, Guo & Cong, FPGA 2021)."""
