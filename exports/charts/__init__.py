"""Charts: what they show (`chart`), specified one way (`specification`): drawn to files
(`rendering`) and in pages (`page`)."""
