#include "stepping/momentum/free_bodies.hpp"

#include <algorithm>

#include "linalg/clones.hpp"
#include "linalg/dense.hpp"

namespace tribo {
namespace {

// C -= A B, 12 x 12 each.
TRIBO_CLONES void subtract_product(const double* __restrict A, const double* __restrict B, double* __restrict C) {
  for (int j = 0; j < 12; ++j) {
    double sum[12];
    for (int i = 0; i < 12; ++i) sum[i] = C[12 * j + i];
    for (int k = 0; k < 12; ++k)
      for (int i = 0; i < 12; ++i) sum[i] -= A[12 * k + i] * B[12 * j + k];
    for (int i = 0; i < 12; ++i) C[12 * j + i] = sum[i];
  }
}

}  // namespace

void FreeBodies::resize(int nodes) {
  nodes_ = nodes;
  contacts_.clear();
  touching_.clear();
}

void FreeBodies::add(const Side& a, const Side& b) {
  contacts_.push_back({{a, b}});
  if (a.node < 0 || b.node < 0 || a.node == b.node) return;
  const std::size_t n = touching_.size();
  if (n >= 2 && touching_[n - 2] == a.node && touching_[n - 1] == b.node) return;
  touching_.push_back(a.node);
  touching_.push_back(b.node);
}

void FreeBodies::multiply(const double* x, double* y) {
  moved_.assign(at(nodes_), Vec6::Zero());
  for (std::size_t i = 0; i < contacts_.size(); ++i)
    for (const Side& s : contacts_[i].side)
      if (s.node >= 0) moved_[at(s.node)] += s.y.transpose() * Eigen::Map<const Vec3>(x + 3 * i);
  for (std::size_t i = 0; i < contacts_.size(); ++i) {
    Vec3 sum = Vec3::Zero();
    for (const Side& s : contacts_[i].side)
      if (s.node >= 0) sum += s.y * moved_[at(s.node)];
    Eigen::Map<Vec3>(y + 3 * i) = sum;
  }
}

double FreeBodies::entry(int contact, int row, int column) const {
  double sum = 0;
  for (const Side& s : contacts_[at(contact)].side)
    if (s.node >= 0) sum += s.y.row(row).dot(s.y.row(column));
  return sum;
}

bool FreeBodies::solve(std::span<const Part> parts, const double* w, double eps, double* p) {
  starts_.resize(at(nodes_) + 1);
  for (int k = 0; k <= nodes_; ++k) starts_[at(k)] = 12 * k;
  order_.analyse(touching_, starts_);
  assemble(parts, w, eps);
  for (int k = 0; k < nodes_; ++k)
    if (!eliminate(k)) return false;
  substitute();
  for (std::size_t i = 0; i < contacts_.size(); ++i) {  // (bodies.2)
    Vec3 t = Vec3::Zero();
    for (const Side& s : contacts_[i].side)
      if (s.node >= 0) t += s.y * x_[at(order_.position(s.node))].tail<6>();
    const Part& part = parts[i];
    Eigen::Map<Vec3> pi(p + 3 * i);
    switch (part.kind) {
      case Part::Kind::Out:
        pi.setZero();
        break;
      case Part::Kind::Rest:
        pi = t / (eps * eps);
        break;
      case Part::Kind::Tied:
        pi = part.along * (part.along.dot(t) / (eps * eps));
        break;
    }
  }
  return true;
}

// (bodies.1)
void FreeBodies::assemble(std::span<const Part> parts, const double* w, double eps) {
  Block empty = Block::Zero();
  later_.assign(at(order_.links()), empty);
  empty.topRightCorner<6, 6>().setIdentity();
  empty.bottomLeftCorner<6, 6>().setIdentity();
  diagonal_.assign(at(nodes_), empty);
  x_.assign(at(nodes_), Vec12::Zero());
  pivots_.resize(at(12 * nodes_));
  for (std::size_t i = 0; i < contacts_.size(); ++i) {
    const Part& part = parts[i];
    if (part.kind == Part::Kind::Out) continue;
    const Eigen::Map<const Vec3> wi(w + 3 * i);
    for (const Side& s : contacts_[i].side) {
      if (s.node < 0) continue;
      const int position = order_.position(s.node);
      if (part.kind == Part::Kind::Rest)
        x_[at(position)].head<6>() -= s.y.transpose() * wi;
      else
        x_[at(position)].head<6>() -= s.y.row(2).transpose() * wi.z();
      for (const Side& t : contacts_[i].side) {
        if (t.node < 0) continue;
        const int other = order_.position(t.node);
        if (other > position) continue;
        Block& block = other == position ? diagonal_[at(position)] : later_[at(order_.link(other, position))];
        if (part.kind == Part::Kind::Rest) {
          const Eigen::Matrix<double, 6, 6> H = s.y.transpose() * t.y / eps;
          block.topLeftCorner<6, 6>() += H;
          block.bottomRightCorner<6, 6>() -= H;
        } else {
          const Vec6 es = s.y.transpose() * part.along, et = t.y.transpose() * part.along;
          block.topLeftCorner<6, 6>() += s.y.row(2).transpose() * (t.y.row(2) / eps);
          block.bottomRightCorner<6, 6>() -= es * (et.transpose() / eps);
        }
      }
    }
  }
}

// Takes position k out of the later ones: K_ij -= K_ik K_kk^-1 K_kj. The lower half is kept.
bool FreeBodies::eliminate(int k) {
  double* D = diagonal_[at(k)].data();
  int* pivot = pivots_.data() + 12 * k;
  if (!dense::lu(D, 12, pivot)) return false;
  const int first = order_.first(k), last = order_.last(k);
  divided_.resize(std::max(divided_.size(), at(last - first)));
  for (int l = first; l < last; ++l) {
    Block& x = divided_[at(l - first)];
    x = later_[at(l)].transpose();
    for (int c = 0; c < 12; ++c) dense::lu_solve(D, 12, pivot, x.data() + 12 * c);
  }
  for (int j = first; j < last; ++j) {
    const int p = order_.other(j);
    const double* x = divided_[at(j - first)].data();
    subtract_product(later_[at(j)].data(), x, diagonal_[at(p)].data());
    int target = order_.first(p);
    for (int i = j + 1; i < last; ++i) {
      while (order_.other(target) != order_.other(i)) ++target;
      subtract_product(later_[at(i)].data(), x, later_[at(target)].data());
    }
  }
  return true;
}

void FreeBodies::substitute() {
  for (int k = 0; k < nodes_; ++k) {
    Vec12 x = x_[at(k)];
    dense::lu_solve(diagonal_[at(k)].data(), 12, pivots_.data() + 12 * k, x.data());
    for (int l = order_.first(k); l < order_.last(k); ++l) x_[at(order_.other(l))].noalias() -= later_[at(l)] * x;
  }
  for (int k = nodes_ - 1; k >= 0; --k) {
    Vec12& x = x_[at(k)];
    for (int l = order_.first(k); l < order_.last(k); ++l)
      x.noalias() -= later_[at(l)].transpose() * x_[at(order_.other(l))];
    dense::lu_solve(diagonal_[at(k)].data(), 12, pivots_.data() + 12 * k, x.data());
  }
}

}  // namespace tribo
