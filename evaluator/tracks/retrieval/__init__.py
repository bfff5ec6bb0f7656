"""Image-sentence retrieval (Flickr30k)."""
