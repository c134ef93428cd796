"""`mercer watch`: a live monitor. Sources bring rows, an engine judges and saves them, a page shows them."""
