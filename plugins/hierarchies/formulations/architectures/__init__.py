"""The architectures that come with Ithaca, one file each, in Timeloop's format (see
`ithaca.plugins.hierarchies.formulations.library`)."""
