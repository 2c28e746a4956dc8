"""All steps of a sample by one block of threads, on an NVIDIA GPU of the Hopper generation.

Off by default. These kernels have not run on a GPU yet. An emulator has run them on a CPU, and
`tests/model/rollout_cuda` compares them with plain JAX. There losses differ by at most 5e-5 of
themselves, and gradients by 6e-3 of their length. Products read float16, and add in float32.
Not shown yet: that training on them scores the same, and why two of the cases agree no better with
JAX that rounds alike.

To turn them on, set HINT_RELIC_KERNELS to 1. What they can't run (`plan.py`) stays with plain JAX.
On a GPU run `benchmarks/rollout.py` first: it compares losses, gradients and times with those of
plain JAX.

plan.py     which networks they can run, and how they lay out what they read and write
weights.py  a network's layers put together as the kernels read them
op.py       the kernels as one differentiable function; run.py: of a network's problems
call.py     how XLA's programs call it
driver.py   how the kernels are compiled and started
steps.cu    the kernels, made of forward.h, backward.h and compare.h
sample.h    what these share; tiles.h, device.h: products, and what is asked of the machine
"""
