"""The parts of Benchmarks/run and Benchmarks/profile."""
