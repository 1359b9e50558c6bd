"""What the embedded model's guard is trained, set and measured with."""
