// Saved states: any bytes are a state of this model or are refused with InvalidInput. The first input is a true one.
#include "input_file.hpp"
#include "tribo/scene.hpp"

namespace {

const tribo::Scene& scene() {
  static const tribo::Scene box =
      tribo::parse_scene("[[object]]\nsize = 0.1\nmass = 1\nposition = [0, 0, 0.05]\n", "box");
  return box;
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  tribo::Simulation simulation = tribo::make_simulation(scene());
  for (int k = 0; k < 5; ++k) simulation.step();
  const std::filesystem::path corpus = (*argv)[*argc - 1];
  if (std::filesystem::is_directory(corpus)) tribo::save_state(simulation.state(), (corpus / "resting.state").string());
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const InputFile file("input.state");
  file.write(data, size);
  try {
    tribo::load_state(*scene().model, file.path);
  } catch (const tribo::InvalidInput&) {
  }
  return 0;
}
