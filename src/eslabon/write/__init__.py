"""Writers: a mechanism as text, and files that are whole or not there."""
