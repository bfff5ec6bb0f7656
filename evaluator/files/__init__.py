"""Reads the files of ground truths and submissions."""
