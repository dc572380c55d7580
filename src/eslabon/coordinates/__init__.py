"""Numbers that formulas of closed mechanisms need: a closed configuration, independent coordinates, motions without mass."""
