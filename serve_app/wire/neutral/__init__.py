"""What every chat format says, in the words of none (API-1)."""
