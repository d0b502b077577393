"""The ladder, the two-by-two and the verdict."""
