"""The parts of Benchmarks/live."""
