"""All steps of a sample by one block of threads, on an NVIDIA GPU of the Hopper generation.

They are used wherever they compile and have room; HINT_RELIC_KERNELS=0 leaves all steps to plain
JAX, which also takes what they can't run (`plan.py`). Products read float16, and add in float32:
losses differ from plain JAX by at most 5e-5 of themselves, gradients by up to 2e-2 of their length,
and networks score the same (docs/performance.md, docs/decisions/0008).

An emulator runs them on a CPU, and `tests/model/rollout_cuda` compares them with plain JAX. On a
GPU `benchmarks/rollout.py` does; run it after every change here.

plan.py     which networks they can run, and how they lay out what they read and write
weights.py  a network's layers put together as the kernels read them
op.py       the kernels as one differentiable function; run.py: of a network's problems
call.py     how XLA's programs call it
driver.py   how the kernels are compiled and started
steps.cu    the kernels, made of forward.h, backward.h and compare.h
sample.h    what these share; tiles.h, device.h: products, and what is asked of the machine
"""
