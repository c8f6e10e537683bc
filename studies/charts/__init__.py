"""Charts: what they show (`chart`), and their two renderers: pictures by matplotlib (`picture`), pages by plotly (`page`)."""
