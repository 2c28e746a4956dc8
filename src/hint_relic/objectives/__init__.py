"""What a network is trained to do: each loss by itself, and their weighted sum."""
