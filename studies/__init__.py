"""Studies: many related solves. What-if sweeps, marginal values of limits, Pareto fronts, networks;
and explanations of one."""
