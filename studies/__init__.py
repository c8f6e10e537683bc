"""Studies: many related solves. What-if sweeps, marginal values of limits, Pareto fronts."""
