// Pictures in shades of grey, for terrain: PNG of 8 or 16 bits, not interlaced.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tribo {

struct GreyPicture {
  int width = 0, height = 0;
  std::vector<double> shades;  ///< 0 black to 1 white, row by row from the top (height x width)
};

/// Of colours the mean. InvalidInput for what is no such picture, is broken, or has more than 16384 points a side.
GreyPicture read_png(const std::string& path);

}  // namespace tribo
