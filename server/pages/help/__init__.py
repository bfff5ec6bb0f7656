"""The online handbook: chapters written in Markdown, and tables generated from the evaluator's declarations."""
