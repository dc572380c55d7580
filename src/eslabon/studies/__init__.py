"""Reports: what there is to know of a mechanism, set out for a person."""
