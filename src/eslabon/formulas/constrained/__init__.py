"""Methods to impose the constraints of loops on the equations of a tree."""
