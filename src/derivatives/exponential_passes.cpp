// Slip and bounds in the derivative of an exponential step: the passes of the step (expo.6), (expo.9), with their slopes.
#include <cmath>

#include "derivatives/exponential_derivative.hpp"

namespace tribo {
namespace {

constexpr double same_force = 1e-9;  // of the largest: the step found the forces that the derivative has

}  // namespace

// As the step begins: all springs hold, but for contacts that pull.
void ExponentialDerivative::begin_passes() {
  const int nc = contacts();
  const std::vector<JointSpring>& springs = compliant_.joints().all();
  hold_.assign(at(nc), Hold::Stick);
  pressed_.assign(at(nc), 0);
  bound_.assign(springs.size(), 0);
  released_.assign(springs.size(), 0);
  known_.setZero(n_);
  known_slope_.set_zero(n_, columns_.all());
  directions_.setZero(2 * nc);
  direction_slope_.set_zero(2 * nc, columns_.all());
  for (int i = 0; i < nc && slips(); ++i)
    if (!(active(at(i)).f.z() > 0) && !active(at(i)).fresh) hold_[at(i)] = Hold::Open;
}

// What leaves its law, as the step does it (expo.6), (expo.9). True where springs changed.
bool ExponentialDerivative::classify(const Start& start) {
  const int nc = contacts(), nl = static_cast<int>(compliant_.limits().size());
  bool changed = false;
  for (int i = 0; i < nc && slips(); ++i) changed |= classify_contact(start, i);
  const std::vector<JointSpring>& springs = compliant_.joints().all();
  const double h = start.dt;
  for (std::size_t j = 0; j < springs.size(); ++j) {
    const JointSpring& s = springs[j];
    const int o = 3 * nc + nl + static_cast<int>(j);
    if (!bound_[j]) {
      const double f = s.a + f1_[o];
      if (f >= s.lower && f <= s.upper) continue;
      bound_[j] = f < s.lower ? -1 : 1;
      known_[o] = (bound_[j] < 0 ? s.lower : s.upper) - s.a;
      known_slope_.map().row(o) = -drives_.map().row(static_cast<int>(j));
    } else {
      const double rate = acceleration(o), f = s.at(0.5 * h * c_[o] + h * h * rate / 6, c_[o] + 0.5 * h * rate);
      if (released_[j] || (bound_[j] < 0 ? f <= s.lower : f >= s.upper)) continue;
      bound_[j] = 0;
      released_[j] = 1;
      known_[o] = 0;
      known_slope_.map().row(o).setZero();
    }
    changed = true;
  }
  return changed;
}

// Of row o, by f1 and the known forces.
double ExponentialDerivative::acceleration(int o) const {
  double sum = b_[o];
  for (int k = 0; k < n_; ++k) sum += G_.map()(o, k) * (known_[k] + f1_[k]);
  return sum;
}

bool ExponentialDerivative::classify_contact(const Start& start, int i) {
  const CompliantContact& s = active(at(i));
  const int o = 3 * i;
  Hold& hold = hold_[at(i)];
  const Vec3 f = f1_.map().segment<3>(o);
  const double tangential = f.head<2>().norm();
  if (hold == Hold::Open) {
    const double h = start.dt, a = acceleration(o + 2), x = x_[o + 2] + 0.5 * h * c_[o + 2] + h * h * a / 6;
    if (pressed_[at(i)] || !(-s.K.z() * x - s.B.z() * (c_[o + 2] + 0.5 * h * a) > 1e-9 * model_.mass())) return false;
    pressed_[at(i)] = 1;
    hold = Hold::Stick;
    return true;
  }
  if (hold == Hold::Stick && f.z() > 0 && tangential <= s.mu() * f.z()) return false;
  if (hold == Hold::Slip && !(f.z() > 0)) {
    hold = Hold::Open;
    for (int r = 0; r < 2; ++r) {
      known_[o + r] = 0;
      known_slope_.map().row(o + r).setZero();
    }
    return true;
  }
  const bool begins = hold == Hold::Stick;
  if (begins && tangential > 0) set_direction(i, f.head<2>(), F1_.map().middleRows(o, 2));
  hold = Hold::Slip;
  const double normal = f.z() > 0 ? f.z() : s.f.z();
  for (int r = 0; r < 2; ++r) {
    const double d = directions_[2 * i + r];
    known_[o + r] = s.mu() * normal * d;
    auto slope = known_slope_.map().row(o + r);
    slope = s.mu() * normal * direction_slope_.map().row(2 * i + r);
    add_rubbed(at(i), normal * d, slope);
    if (f.z() > 0)
      slope += s.mu() * d * F1_.map().row(o + 2);
    else if (s.f.z() > 0)
      slope -= s.mu() * d * (s.K.z() * rows_x_.map().row(o + 2) + s.B.z() * rows_c_.map().row(o + 2));
  }
  return begins;
}

// Friction points along f.
void ExponentialDerivative::set_direction(int i, const Eigen::Vector2d& f,
                                          const Eigen::Ref<const RowMatrix::Rows>& slope) {
  const double size = f.norm();
  const Eigen::Vector2d d = f / size;
  for (int r = 0; r < 2; ++r) directions_[2 * i + r] = d[r];
  for (int c = 0; c < columns_.all(); ++c) {
    const double along = d[0] * slope(0, c) + d[1] * slope(1, c);
    for (int r = 0; r < 2; ++r) direction_slope_(2 * i + r, c) = (slope(r, c) - along * d[r]) / size;
  }
}

// As turn_friction of the step: where spring and damper would point in the middle.
void ExponentialDerivative::turn_directions(const Start& start) {
  const int n = n_, nv = model_.nv, all = columns_.all();
  const double h = start.dt;
  turned_.resize(2, all);
  auto wanted_slope = turned_.map();
  for (int i = 0; i < contacts(); ++i) {
    if (hold_[at(i)] != Hold::Slip) continue;
    const CompliantContact& s = active(at(i));
    const double gone = std::expm1(-0.5 * h * s.K.x() / s.B.x());
    Eigen::Vector2d wanted;
    for (int r = 0; r < 2; ++r) {
      const int o = 3 * i + r;
      double speed = c_[o] + 0.5 * h * b_[o];
      wanted_slope.row(r) = rows_c_.map().row(o) + 0.5 * h * rows_b_.map().row(o);
      for (int k = 0; k < n; ++k) {
        const double f = known_[k] + f2_[k];
        speed += 0.5 * h * G_.map()(o, k) * f;
        wanted_slope.row(r) += 0.5 * h * G_.map()(o, k) * (known_slope_.map().row(k) + F2_.map().row(k));
        for (int j = 0; j < tensor_.cols(); ++j)
          wanted_slope(r, j < nv ? j : parameter_column(j - nv)) += 0.5 * h * f * tensor_(o * n + k, j);
      }
      const double x = x_[o] + gone * (x_[o] + known_[o] / s.K.x());
      wanted[r] = -s.K.x() * x - s.B.x() * speed;
      wanted_slope.row(r) = -s.B.x() * wanted_slope.row(r) - s.K.x() * (1 + gone) * rows_x_.map().row(o) -
                            gone * known_slope_.map().row(o);
    }
    const Eigen::Vector2d d = directions_.map().segment<2>(2 * i);
    if (wanted.dot(d) <= 0.5 * wanted.norm()) continue;
    set_direction(i, wanted, wanted_slope);
    const double size = known_.map().segment<2>(3 * i).norm();  // the next contact sees it turned
    pushed_.resize(1, all);
    pushed_.map() = d[0] * known_slope_.map().row(3 * i) + d[1] * known_slope_.map().row(3 * i + 1);
    for (int r = 0; r < 2; ++r) {
      known_[3 * i + r] = size * directions_[2 * i + r];
      known_slope_.map().row(3 * i + r) =
          directions_[2 * i + r] * pushed_.map() + size * direction_slope_.map().row(2 * i + r);
    }
  }
}

// Into the cone, as scatter and settle of the step have it.
void ExponentialDerivative::take_forces() {
  const int nc = contacts(), nl = static_cast<int>(compliant_.limits().size());
  auto F1 = F1_.map(), F2 = F2_.map();
  const auto release = [&](VectorBuffer& f, RowMatrix::Map F, int row) {
    if (f[row] > 0) return;
    f[row] = 0;
    F.row(row).setZero();
  };
  for (int i = 0; i < nc; ++i) {
    const int o = 3 * i;
    const CompliantContact& s = active(at(i));
    if (hold_[at(i)] == Hold::Stick) {
      if (!compliant_.rules().bilateral) project_second(s, o);
      continue;
    }
    for (auto* f : {&f1_, &f2_}) {
      RowMatrix::Map F = f == &f1_ ? F1 : F2;
      if (hold_[at(i)] == Hold::Open) {
        f->map().segment<3>(o).setZero();
        F.middleRows(o, 3).setZero();
        continue;
      }
      release(*f, F, o + 2);
      for (int r = 0; r < 2; ++r) {
        const double d = directions_[2 * i + r];
        F.row(o + r) = s.mu() * (d * F.row(o + 2) + (*f)[o + 2] * direction_slope_.map().row(2 * i + r));
        add_rubbed(at(i), d * (*f)[o + 2], F.row(o + r));
        (*f)[o + r] = s.mu() * d * (*f)[o + 2];
      }
    }
  }
  for (int j = 0; j < nl; ++j) {
    release(f1_, F1, 3 * nc + j);
    release(f2_, F2, 3 * nc + j);
  }
  const std::vector<JointSpring>& springs = compliant_.joints().all();
  for (std::size_t j = 0; j < springs.size(); ++j) {
    const int o = 3 * nc + nl + static_cast<int>(j);
    const JointSpring& s = springs[j];
    for (auto* f : {&f1_, &f2_}) {
      RowMatrix::Map F = f == &f1_ ? F1 : F2;
      const double whole = bound_[j] < 0 ? s.lower : bound_[j] > 0 ? s.upper : s.a + (*f)[o], within = s.within(whole);
      if (!bound_[j] && within == whole) continue;
      (*f)[o] = within - s.a;
      F.row(o) = -drives_.map().row(static_cast<int>(j));
    }
  }
  forces_.resize(3 * nc, columns_.all());
  forces_.map() = F1.topRows(3 * nc);
}

// The force that moves q, of a contact that sticks: into its cone.
void ExponentialDerivative::project_second(const CompliantContact& s, int o) {
  const Vec3 f = f2_.map().segment<3>(o);
  auto F = F2_.map().middleRows(o, 3);
  if (!(f.z() > 0)) {
    f2_.map().segment<3>(o).setZero();
    F.setZero();
    return;
  }
  const double size = f.head<2>().norm();
  if (size <= s.mu() * f.z()) return;
  const Eigen::Vector2d d = f.head<2>() / size;
  f2_.map().segment<2>(o) = s.mu() * f.z() * d;
  for (int c = 0; c < columns_.all(); ++c) {
    const double x = F(0, c), y = F(1, c), along = d[0] * x + d[1] * y, share = s.mu() * f.z() / size;
    F(0, c) = share * (x - along * d[0]) + s.mu() * d[0] * F(2, c);
    F(1, c) = share * (y - along * d[1]) + s.mu() * d[1] * F(2, c);
  }
  for (int r = 0; r < 2; ++r) add_rubbed(at(o / 3), f.z() * d[r], F.row(r));
}

// Are these the forces of the step? A contact that changed its law more than once has another way behind it.
bool ExponentialDerivative::agrees() const {
  double largest = model_.mass(), apart = 0;  // less than 1 m/s^2 is rounding beside it
  for (int i = 0; i < contacts(); ++i) {
    if ((active(at(i)).mode == ContactMode::Open) != (hold_[at(i)] == Hold::Open)) return false;
    largest = std::max(largest, active(at(i)).mean.norm());
    apart = std::max(apart, (active(at(i)).mean - Vec3(f1_.map().segment<3>(3 * i))).norm());
  }
  return apart <= same_force * largest;
}

}  // namespace tribo
