"""Keras models as networks."""
