// Arrays and pictures: the first byte chooses a picture, an array of heights, or a contact problem as .npz or .json.
#include <array>

#include "input_file.hpp"
#include "io/npy.hpp"
#include "io/png.hpp"
#include "io/problem_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::array<InputFile, 4> files{InputFile("input.png"), InputFile("input.npy"), InputFile("input.npz"),
                                              InputFile("input.json")};
  if (size == 0) return 0;
  const unsigned kind = data[0] % 4;
  const InputFile& file = files[kind];
  file.write(data + 1, size - 1);
  try {
    if (kind == 0) {
      tribo::read_png(file.path);
    } else if (kind == 1) {
      const tribo::NpzReader reader(file.path);
      for (const std::string& name : reader.names()) reader.read(name);
    } else {
      tribo::read_problem(file.path);
    }
  } catch (const tribo::InvalidInput&) {
  }
  return 0;
}
