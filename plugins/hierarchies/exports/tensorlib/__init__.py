"""Space-time transforms for TensorLib, which generates arrays."""
