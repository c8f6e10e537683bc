"""The devices that come with Ithaca, one YAML file each (see
`ithaca.formulations.platform_files`)."""
