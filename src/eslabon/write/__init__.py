"""Writers: a mechanism as text."""
