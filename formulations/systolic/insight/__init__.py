"""What can be said of a configuration: where its cycles go, what it pads, how far it is from its
roofs."""
