"""Reports: results as tables, curves and pages."""
