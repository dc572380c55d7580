"""What mechanisms bring to the compiler: their inputs, the guards of these, and the table of
quantities."""
