"""All steps of a sample in one go, on a CPU: machine code of our own in place of XLA's loop.

plan.py      which networks it can run, and what they read, decode and feed back
weights.py   a network's layers put together as it reads them
forward.py   the steps of one sample
backward.py  their derivatives
op.py        both as one differentiable function of a batch
call.py      how XLA's programs call it; blas.py: products of matrices within it
"""
