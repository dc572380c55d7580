"""Derivatives of dynamics by the state and by parameters, and the linear models made of them."""
