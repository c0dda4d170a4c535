"""Maintainers' commands: benchmarks, the generated parts of README and the site, pictures, tutorials, the catalogue, the check of the wheel."""
