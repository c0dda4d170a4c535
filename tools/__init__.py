"""Maintainers' commands: benchmarks, the generated parts of README, pictures, the catalogue, the check of the wheel."""
