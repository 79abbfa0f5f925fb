// MJCF files: any bytes either make a robot or are refused with InvalidInput.
#include "input_file.hpp"
#include "tribo/scene.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const InputFile file("input.xml");
  file.write(data, size);
  tribo::RobotOptions options;
  options.model = file.path;
  try {
    tribo::ModelBuilder builder;
    tribo::add_robot(builder, options);
    builder.build();
  } catch (const tribo::InvalidInput&) {
  }
  return 0;
}
