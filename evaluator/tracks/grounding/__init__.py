"""Phrase grounding (Flickr30k Entities)."""
