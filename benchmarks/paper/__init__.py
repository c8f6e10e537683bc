"""The published experiments (Wang & Cong, "Odyssey", arXiv 2111.14252), remade against proven
optima."""
