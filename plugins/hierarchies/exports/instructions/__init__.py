"""The instructions of a layer on an accelerator with an intrinsic, and what runs them."""
