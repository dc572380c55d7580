"""What users ask of a mechanism in motion: forces, accelerations, matrices, reactions, energy."""
