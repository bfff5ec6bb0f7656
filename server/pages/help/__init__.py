"""The handbook: chapters in Markdown, and tables generated from the evaluator's declarations."""
