"""Parts of the page of one decision, in the order in which they stand on it."""
