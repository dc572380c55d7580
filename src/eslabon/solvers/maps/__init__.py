"""What maps over poses are made of: their coordinates, native steps from pose to pose, working modes, the flood over a grid."""
