"""The networks that come with Ithaca, one file each (see `network_files`)."""
