"""Documents of answers: written, read, explained."""
