"""The handbook: chapters in Markdown, and tables generated from the declarations in the evaluator."""
