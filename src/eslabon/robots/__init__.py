"""The library of mechanisms, as TOML data."""
