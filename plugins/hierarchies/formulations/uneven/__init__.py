"""Edition `uneven`: every tensor has tiles of its own, which lie inside storage nodes between the
loops."""
