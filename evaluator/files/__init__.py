"""Reads the files of truths and of submissions."""
