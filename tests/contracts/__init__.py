"""What holds for every algorithm of the registry, checked without the reference.

`runs.py` runs an algorithm on a copy of an input, `strategies.py` has Hypothesis make inputs
for each, and `oracles/` judges each output by other means: networkx, scipy, NumPy, brute force.
"""
