"""The visual relationships track of Open Images."""
