"""Who am I, who else is there, and where do they listen."""
