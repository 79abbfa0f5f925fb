// Scene files: any text either makes a scene or is refused with InvalidInput.
#include <string>

#include "tribo/scene.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    tribo::parse_scene(std::string(reinterpret_cast<const char*>(data), size), "fuzz");
  } catch (const tribo::InvalidInput&) {
  }
  return 0;
}
