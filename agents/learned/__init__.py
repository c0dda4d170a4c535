"""Networks in NumPy, and the features they are fed."""
