// Convex decomposition of meshes: made by a program from outside (CoACD), kept in the user's cache by the hash of the mesh.
#pragma once

#include <functional>
#include <string>

namespace tribo {

/// Writes the convex parts of a mesh file as the objects of an OBJ file: at most `most`, 0: as many as the shape needs.
using Decomposer = std::function<void(const std::string& mesh, int most, const std::string& out)>;

/// What decomposes meshes that are not in the cache. None is set at first; Python sets its own.
void set_decomposer(Decomposer decomposer);

/// The file of the parts of a mesh, from the cache ($TRIBO_CACHE, else $XDG_CACHE_HOME/tribo, else ~/.cache/tribo), or made.
/// InvalidInput where it can not be made, with what is missing.
std::string decomposed_mesh(const std::string& mesh, int most);

}  // namespace tribo
