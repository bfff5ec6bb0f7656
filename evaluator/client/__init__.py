"""Implements the ``podium`` commands that communicate with a server. Only these commands import httpx."""
