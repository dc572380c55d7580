"""Machine code by LLVM: the one place that speaks its language."""
