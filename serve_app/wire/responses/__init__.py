"""OpenAI's Responses, as its SDK's types say (API-1)."""
