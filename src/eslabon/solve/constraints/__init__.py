"""What numbers alone say of a model's equations: closed configurations, independent coordinates,
massless motions, checks of states."""
