"""The record: the only bridge between running and comparing."""
