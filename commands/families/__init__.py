"""How results of a family are printed where that is not like any other's: a module each."""
