"""What every measurement needs: prompts, load, processes, statistics, tables."""
