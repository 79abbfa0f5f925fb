// URDF files.
#include "robot_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const InputFile file("input.urdf");
  try_robot(file, data, size);
  return 0;
}
