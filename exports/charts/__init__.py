"""Charts: what they show (`chart`), drawn one way (`picture`): to files, as parts of pages (`svg`),
as pages (`page`)."""
