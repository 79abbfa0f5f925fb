#include <cmath>
#include <limits>

#include "tribo/batch.hpp"

namespace tribo {

void scan_heights(const Inquiry& inquiry, const HeightScan& scan, double* heights) {
  const Placement X = inquiry.pose(scan.place);
  const double length = std::max(std::hypot(X.R(0, 0), X.R(1, 0)), 1e-12);
  const double c = X.R(0, 0) / length, s = X.R(1, 0) / length, z = X.p.z() + scan.above;
  for (std::size_t i = 0; 2 * i < scan.points.size(); ++i) {
    const double x = scan.points[2 * i], y = scan.points[2 * i + 1];
    const Vec3 start(X.p.x() + c * x - s * y, X.p.y() + s * x + c * y, z);
    const double fallen = inquiry.ray(start, -Vec3::UnitZ(), scan.most, scan.ignored).distance;
    heights[i] = std::isfinite(fallen) ? z - fallen : std::numeric_limits<double>::quiet_NaN();
  }
}

}  // namespace tribo
