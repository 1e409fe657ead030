"""The eleven promises as laws, and the generators of histories that the laws run on."""
