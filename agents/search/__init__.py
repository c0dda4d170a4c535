"""Search at the table on top of another agent: beliefs over hands, and lookahead."""
