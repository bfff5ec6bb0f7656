"""Serializers for requests and responses, one file for each resource."""
