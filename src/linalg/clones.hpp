// Functions marked TRIBO_CLONES are compiled for the base machine and for AVX2; the loader picks. They take plain
// pointers only, so that no Eigen type meets another instruction set's alignment.
#pragma once

// Sanitizers are not ready when the loader resolves clones.
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && defined(__GNUC__) && !defined(__clang__)
#define TRIBO_CLONES __attribute__((target_clones("arch=haswell", "default")))
#else
#define TRIBO_CLONES
#endif
