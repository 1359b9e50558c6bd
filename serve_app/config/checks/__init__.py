"""What a configuration whose form holds must also fulfil (CFG-1 to CFG-9)."""
