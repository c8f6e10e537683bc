"""Systems of recurrences, and the library of them."""
