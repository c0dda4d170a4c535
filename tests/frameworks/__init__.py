"""Games played through other frameworks, one script each; ``tests/adapters/test_frameworks.py`` runs them."""
