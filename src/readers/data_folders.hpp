// Where scenes and robots lie that came with a package. The command knows its own; the Python package says at import.
#pragma once

#include <string>

namespace tribo {

struct DataFolders {
  std::string scenes;  ///< of .toml files; empty: not set
  std::string robots;  ///< share/example-robot-data/robots; empty: not set
};

/// Those of the source tree that the library was built from; none in a wheel.
DataFolders source_folders();

/// One for the program; written once, before any scene or robot is looked for.
inline DataFolders& data_folders() {
  static DataFolders folders;
  return folders;
}

}  // namespace tribo
