"""Anthropic Messages: ``POST /v1/messages`` of clients and of providers (API-1)."""
