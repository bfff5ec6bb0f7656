"""Serializers for the requests and responses of the API, with one module for each kind of resource."""
