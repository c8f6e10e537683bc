"""What-ifs, fronts, marginal values, networks."""
