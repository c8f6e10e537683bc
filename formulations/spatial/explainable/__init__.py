"""Edition `explainable`: the model of Dave et al., "Explainable-DSE" (ASPLOS 2023), with networks
of unicast links."""
