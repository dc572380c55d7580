"""Where everything is: poses along the tree, and the loops that close on it."""
