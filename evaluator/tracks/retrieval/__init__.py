"""The image-sentence retrieval track of Flickr30k."""
