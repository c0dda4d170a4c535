"""The environments: what people of PettingZoo, Gymnasium and OpenSpiel expect, on top of the one engine."""
