"""Figures of results, one file a kind; `figures` says which result is drawn by which."""
