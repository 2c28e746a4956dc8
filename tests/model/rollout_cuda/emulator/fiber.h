// Threads of control that hand over to each other: on x86-64 in ten instructions, elsewhere by
// what the C library has, which asks the system each time.
#pragma once
#include <cstddef>
#ifndef __x86_64__
#include <ucontext.h>
#endif

namespace emulated {

#ifdef __x86_64__

struct Fiber { void* top; };  // of a stack that ends in what a function call keeps

extern "C" __attribute__((visibility("hidden"))) void emulated_switch(void** from, void* to);

asm(R"(
.text
.hidden emulated_switch
.globl emulated_switch
.type emulated_switch, @function
emulated_switch:
  push %rbp
  push %rbx
  push %r12
  push %r13
  push %r14
  push %r15
  mov %rsp, (%rdi)
  mov %rsi, %rsp
  pop %r15
  pop %r14
  pop %r13
  pop %r12
  pop %rbx
  pop %rbp
  ret
.size emulated_switch, . - emulated_switch
)");

// what: is called when this fiber has its first turn, and never returns
inline void begin_fiber(Fiber& fiber, unsigned char* stack, size_t size, void (*what)()) {
  void** end = reinterpret_cast<void**>(reinterpret_cast<size_t>(stack + size) / 16 * 16);
  end[-1] = nullptr, end[-2] = reinterpret_cast<void*>(what);
  for (int i = 3; i <= 8; i++) end[-i] = nullptr;
  fiber.top = end - 8;
}

inline void switch_fiber(Fiber& from, Fiber& to) { emulated_switch(&from.top, to.top); }

#else

struct Fiber { ucontext_t context; };

inline void begin_fiber(Fiber& fiber, unsigned char* stack, size_t size, void (*what)()) {
  getcontext(&fiber.context);
  fiber.context.uc_stack.ss_sp = stack, fiber.context.uc_stack.ss_size = size;
  fiber.context.uc_link = nullptr;
  makecontext(&fiber.context, what, 0);
}

inline void switch_fiber(Fiber& from, Fiber& to) { swapcontext(&from.context, &to.context); }

#endif

}  // namespace emulated
