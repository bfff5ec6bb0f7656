"""Reads the files of ground truths and of submissions."""
