// The kernels as functions of a library: all blocks, one after the other.
#include "steps.cu"

template <class Arguments>
static void run(void (*kernel)(Arguments), void* const* arrays, int samples, int room, int blocks,
                size_t bytes, unsigned seed) {
  Arguments a;
  constexpr size_t POINTERS = (sizeof(Arguments) - 2 * sizeof(int)) / sizeof(void*);
  std::memcpy(&a, arrays, POINTERS * sizeof(void*));
  a.samples = samples, a.room = room;
  for (int i = 0; i < blocks; i++) emulated::run_block(i, bytes, seed + i, [=] { kernel(a); });
}

template <class Arguments> constexpr int arrays_in = (sizeof(Arguments) - 2 * sizeof(int)) / sizeof(void*);

// Runs a kernel by its name; false if it has another number of arrays, or there is none.
extern "C" bool emulate(const char* name, void* const* arrays, int count, int samples, int room, int blocks,
                        size_t bytes, unsigned seed) {
#define ONE(kernel, Arguments)                                          \
  if (!std::strcmp(name, #kernel)) {                                    \
    if (count != arrays_in<Arguments>) return false;                    \
    run<Arguments>(kernel, arrays, samples, room, blocks, bytes, seed); \
    return true;                                                        \
  }
  ONE(forward, Forward)
  ONE(backward, Backward)
#if COMPARES
  ONE(compare, Compare)
  ONE(compare_backward, CompareBackward)
#endif
  return false;
}
