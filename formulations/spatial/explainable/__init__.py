"""Edition `explainable`: the accelerators of Dave et al., "Explainable-DSE" (ASPLOS 2023), a network of unicast links an operand."""
