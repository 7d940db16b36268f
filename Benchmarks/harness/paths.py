"""Paths of the sources, programs and results."""

from pathlib import Path

BENCHMARKS = Path(__file__).resolve().parent.parent
PROJECT = BENCHMARKS.parent
PEERS = BENCHMARKS / "Peers"
LOAD = BENCHMARKS / "Load"
BUILD = BENCHMARKS / ".build-bench"
VIRTUAL_ENVIRONMENT = BUILD / "venv"
LOGS = BUILD / "logs"
CEILINGS = BENCHMARKS / "ceilings.json"

SERVER_CORE = 0
LOAD_CORE = 1
CONNECTIONS = 64
BODY = '{"data":{"firstNumber":3,"secondNumber":4}}'
