"""Where a mechanism can go: samples, and maps over grids of poses."""
