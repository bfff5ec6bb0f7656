"""The phrase grounding track of Flickr30k Entities."""
