"""A network on one machine: namespaces joined by a bridge, with shaped links."""
