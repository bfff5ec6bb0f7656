"""The serializers of requests and responses, one file for each resource."""
