"""Games played through other frameworks, one script each; ``tests/test_frameworks.py`` runs them."""
