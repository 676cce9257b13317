"""Rainbow graphs: datasets, neighbors, regions and how far each is from its boundary."""
