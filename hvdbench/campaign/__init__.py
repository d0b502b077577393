"""Runs the ladder of a diagnosis: rounds of launches, a handicap for the suspect, the verdict."""
