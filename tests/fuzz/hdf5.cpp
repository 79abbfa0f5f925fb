// Contact problems as HDF5 files.
#include "input_file.hpp"
#include "io/problem_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const InputFile file("input.hdf5");
  file.write(data, size);
  try {
    tribo::read_problem(file.path);
  } catch (const tribo::InvalidInput&) {
  }
  return 0;
}
