"""The networks that come with Ithaca, one YAML file each (see
`ithaca.workloads.networks.network_files`)."""
