"""The rulebook: the rules in force in two languages with sources and examples, the chances of bids, proofs of fair dice."""
