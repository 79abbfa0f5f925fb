// Functions marked TRIBO_CLONES are compiled for the base machine and for AVX2; the loader picks. The preprocessor sees the
// base machine in both, so Eigen's types keep one alignment.
// x86-64-v3 is picked by what the machine can do. The name of a processor, as haswell, is picked on that processor alone.
#pragma once

// Sanitizers are not ready when the loader resolves clones.
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && defined(__GNUC__) && \
    !defined(__clang__)
#if __GNUC__ >= 12
#define TRIBO_CLONES __attribute__((target_clones("arch=x86-64-v3", "default")))
#else
#define TRIBO_CLONES __attribute__((target_clones("avx2", "default")))
#endif
#else
#define TRIBO_CLONES
#endif

// Functions marked TRIBO_WIDE are for AVX-512, and are called where has_wide_registers().
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#include <immintrin.h>
#define TRIBO_WIDE __attribute__((target("avx512f,avx512vl,fma")))
inline bool has_wide_registers() {
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("fma");
}
#endif
