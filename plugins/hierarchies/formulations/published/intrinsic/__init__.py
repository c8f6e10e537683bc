"""Edition `intrinsic`: accelerators that run one operation, such as a small matrix product, and
layers cut into its calls."""
