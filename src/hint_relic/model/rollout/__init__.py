"""All steps of a sample in one go, on a CPU: machine code of our own in place of XLA's loop.

plan.py      which networks it can run, and what they read, decode and feed back
weights.py   a network's layers put together as it reads them
forward.py   a step of one sample, made of pieces.py
backward.py  its derivatives, made of through.py
compare.py   a step's representations, compared between an input and its view
kernels.py   all steps: the two functions that are compiled
ahead.py     that while XLA compiles, too
op.py        both as one differentiable function of a batch; run.py: of a network's problems
call.py      how XLA's programs call it; tiles.py, bits.py: what it asks of the machine
cuda/        the same idea on a GPU of the Hopper generation
"""
