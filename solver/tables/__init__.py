"""The tables that engines share: candidate tables, dominance, trees, columns, compiled programs and
their bounds."""
