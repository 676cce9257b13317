"""Rainbow graphs: datasets, neighbors, regions, and how far each dataset is from its boundary."""
