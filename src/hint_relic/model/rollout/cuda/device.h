// What the kernels ask of the machine: products of small matrices, and numbers of 16 bits.
//
// Tests give these words another meaning and run the kernels on a CPU (tests/model/emulator).
#pragma once

typedef unsigned short half_t;  // the bits of a float16

#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#endif
#define DEVICE static __device__ __forceinline__
#define DEVICE_MEMBER __device__ __forceinline__
#define KERNEL extern "C" __global__ void __launch_bounds__(THREADS, 1)
#define SHARED(name) extern __shared__ __align__(128) unsigned char name[]

// Two numbers as float16, the first in the lower bits.
DEVICE unsigned pack(float low, float high) {
  unsigned both;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
  return both;
}

// The same of what is not negative of them: zeros take the place of the others.
DEVICE unsigned pack_positive(float low, float high) {
  unsigned both;
  asm("cvt.rn.relu.satfinite.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
  return both;
}

DEVICE float unpack(half_t bits) {
  float x;
  asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
  return x;
}

DEVICE unsigned shared_address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

// Four blocks of 8 x 8 from the rows that the lanes point at: lane l gets of each block the pair
// at row l / 4 and column 2 * (l % 4).
DEVICE void load4(unsigned (&x)[4], const half_t* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
               : "r"(shared_address(row)) : "memory");
}

// The same of the transposed blocks.
DEVICE void load4_turned(unsigned (&x)[4], const half_t* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
               : "r"(shared_address(row)) : "memory");
}

// c (16 x 8) += a (16 x 16) b (16 x 8), by a warp: by all of it, so it must not be moved to where only
// some of its threads go.
DEVICE void multiply(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
               "{%8, %9}, {%0, %1, %2, %3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// Add two numbers to two in memory, and don't wait for it.
DEVICE void add2(float* at, float x, float y) {
  asm volatile("red.global.add.v2.f32 [%0], {%1, %2};" ::"l"(at), "f"(x), "f"(y) : "memory");
}

DEVICE void add1(float* at, float x) {
  asm volatile("red.global.add.f32 [%0], %1;" ::"l"(at), "f"(x) : "memory");
}

// What lies in memory and is not written meanwhile. The compiler may read it when it likes: once for
// a loop, or all that a loop needs before it stores anything.
DEVICE uint4 fetch(const uint4* at) {
  uint4 x;
  asm("ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4];"
      : "=r"(x.x), "=r"(x.y), "=r"(x.z), "=r"(x.w) : "l"(at));
  return x;
}
// The same, asked for here and now: before a barrier, say, for what comes after it.
DEVICE uint4 fetch_early(const uint4* at) {
  uint4 x;
  asm volatile("ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(x.x), "=r"(x.y), "=r"(x.z), "=r"(x.w) : "l"(at));
  return x;
}
DEVICE uint2 fetch(const uint2* at) {
  uint2 x;
  asm("ld.global.nc.v2.u32 {%0, %1}, [%2];" : "=r"(x.x), "=r"(x.y) : "l"(at));
  return x;
}
DEVICE float4 fetch(const float4* at) {
  float4 x;
  asm("ld.global.nc.v4.f32 {%0, %1, %2, %3}, [%4];"
      : "=f"(x.x), "=f"(x.y), "=f"(x.z), "=f"(x.w) : "l"(at));
  return x;
}
DEVICE float fetch(const float* at) {
  float x;
  asm("ld.global.nc.f32 %0, [%1];" : "=f"(x) : "l"(at));
  return x;
}
DEVICE unsigned fetch(const unsigned* at) {
  unsigned x;
  asm("ld.global.nc.u32 %0, [%1];" : "=r"(x) : "l"(at));
  return x;
}
DEVICE unsigned fetch(const unsigned char* at) {
  unsigned x;
  asm("ld.global.nc.u8 %0, [%1];" : "=r"(x) : "l"(at));
  return x;
}

DEVICE float from_lane(float x, int mask) { return __shfl_xor_sync(0xffffffffu, x, mask); }
DEVICE unsigned from_lane(unsigned x, int mask) { return __shfl_xor_sync(0xffffffffu, x, mask); }
DEVICE void wait_for_all() { __syncthreads(); }
DEVICE float inverse_root(float x) { return rsqrtf(x); }
DEVICE int thread_index() { return threadIdx.x; }
DEVICE int block_index() { return blockIdx.x; }
DEVICE int ones_in(unsigned x) { return __popc(x); }
DEVICE float power_of_two(int k) { return __int_as_float((k + 127) << 23); }
DEVICE int exponent_of(float x) { return ((__float_as_int(x) >> 23) & 255) - 127; }
DEVICE unsigned bits_of(float x) { return __float_as_uint(x); }
