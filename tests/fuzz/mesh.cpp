// Mesh files: the first byte chooses the format; what has points is made into a hull.
#include <string>

#include "readers/mesh_file.hpp"
#include "tribo/shape.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string bytes(reinterpret_cast<const char*>(data + 1), size - 1);
  static const char* const formats[] = {".obj", ".stl", ".ply"};
  try {
    for (const auto& part : tribo::parse_mesh(bytes, formats[data[0] % 3], "fuzz")) tribo::make_hull(part, "fuzz");
  } catch (const tribo::InvalidInput&) {
  }
  return 0;
}
