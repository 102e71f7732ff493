"""The compiled machine: forests planned as instructions over registers, and run forwards and backwards."""
