"""Optimal design and optimal motion, with exact gradients from the graph, by IPOPT."""
