"""Systems of recurrences that come with Ithaca."""
