"""The parts of Benchmarks/database."""
