"""Hardware: SystemVerilog of a derived array, with a bench, and what runs both."""
