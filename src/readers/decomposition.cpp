#include "tribo/decomposition.hpp"

#include <cstdlib>
#include <filesystem>
#include <limits>
#include <mutex>

#include "base/file.hpp"
#include "base/hash.hpp"
#include "readers/mesh_file.hpp"

namespace tribo {
namespace {

namespace fs = std::filesystem;

std::mutex mutex;

Decomposer& known() {
  static Decomposer decomposer;
  return decomposer;
}

fs::path cache_folder() {
  auto variable = [](const char* name) -> std::string {
    const char* value = std::getenv(name);
    return value != nullptr ? value : "";
  };
  if (const std::string own = variable("TRIBO_CACHE"); !own.empty()) return own;
  if (const std::string user = variable("XDG_CACHE_HOME"); !user.empty()) return fs::path(user) / "tribo";
  if (const std::string home = variable("HOME"); !home.empty()) return fs::path(home) / ".cache" / "tribo";
  return fs::temp_directory_path() / "tribo";
}

}  // namespace

void set_decomposer(Decomposer decomposer) {
  const std::lock_guard lock(mutex);
  known() = std::move(decomposer);
}

std::string decomposed_mesh(const std::string& mesh, int most) {
  check_mesh(mesh);
  const std::string bytes = read_text(mesh, std::numeric_limits<std::uint64_t>::max());  // checked above
  Hash hash;
  hash.add(std::string("convex parts 1")).add(static_cast<std::uint64_t>(bytes.size())).add(most);
  hash.bytes(bytes.data(), bytes.size());
  const fs::path folder = cache_folder() / "parts", out = folder / (hex(hash.value()) + ".obj");
  std::error_code error;
  if (fs::is_regular_file(out, error)) return out.string();
  Decomposer decompose;
  {
    const std::lock_guard lock(mutex);
    decompose = known();
  }
  if (!decompose)
    throw InvalidInput("mesh '" + mesh + "' is not in the cache of convex parts (" + folder.string() +
                       ") and this program cannot make them; load it once in Python, with the extra 'parts': "
                       "pip install 'tribo[parts]'");
  fs::create_directories(folder, error);
  if (error) throw InvalidInput("the cache of convex parts " + folder.string() + ": " + error.message());
  decompose(mesh, most, out.string());
  if (!fs::is_regular_file(out, error))
    throw InvalidInput("mesh '" + mesh + "': its convex parts were not made (" + out.string() + ")");
  return out.string();
}

}  // namespace tribo
