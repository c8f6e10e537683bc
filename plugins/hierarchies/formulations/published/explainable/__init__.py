"""Edition `explainable`: the model of Dave et al. (ASPLOS 2023), with networks of links."""
