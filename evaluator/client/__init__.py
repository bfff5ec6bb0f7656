"""The commands of ``podium`` that talk to a server. Only these commands import httpx."""
