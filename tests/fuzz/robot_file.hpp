// A robot file of any bytes: either makes a robot or is refused with InvalidInput.
#pragma once

#include "input_file.hpp"
#include "tribo/scene.hpp"

inline void try_robot(const InputFile& file, const std::uint8_t* data, std::size_t size) {
  file.write(data, size);
  tribo::RobotOptions options;
  options.model = file.path;
  try {
    tribo::ModelBuilder builder;
    tribo::add_robot(builder, options);
    builder.build();
  } catch (const tribo::InvalidInput&) {
  }
}
