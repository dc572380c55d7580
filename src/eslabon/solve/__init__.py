"""What is found by iteration over compiled formulas: assembly, inverse kinematics, singularities, workspace."""
