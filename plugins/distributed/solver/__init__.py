"""Jobs on clusters."""
