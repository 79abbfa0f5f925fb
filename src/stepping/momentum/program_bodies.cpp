#include "stepping/momentum/program_bodies.hpp"

#include <algorithm>

#include "linalg/clones.hpp"
#include "linalg/dense.hpp"

namespace tribo {
namespace {

using Vec6 = Eigen::Matrix<double, 6, 1>;

Vec6 vector(const Spatial& s) { return (Vec6() << s.lin, s.ang).finished(); }

Eigen::Matrix<double, 6, 6> matrix(const RigidInertia& inertia) {
  Eigen::Matrix<double, 6, 6> I;
  const Mat3 turned = skew(inertia.mc);
  I << inertia.m * Mat3::Identity(), -turned, turned, inertia.I;
  return I;
}

// C -= A B, A 12 x inner, B inner x 12.
TRIBO_CLONES void subtract_product(const double* __restrict A, const double* __restrict B, int inner,
                                   double* __restrict C) {
  for (int j = 0; j < 12; ++j) {
    double sum[12];
    for (int i = 0; i < 12; ++i) sum[i] = C[12 * j + i];
    for (int k = 0; k < inner; ++k)
      for (int i = 0; i < 12; ++i) sum[i] -= A[12 * k + i] * B[inner * j + k];
    for (int i = 0; i < 12; ++i) C[12 * j + i] = sum[i];
  }
}

// y = K (S, S on the diagonal), K 12 x 12, for `degrees` columns of S twice.
template <class Matrix12, class Axes>
void times_axes(const Matrix12& K, const Axes& S, int degrees, Eigen::Matrix<double, 12, 12>& y) {
  y.leftCols(degrees).noalias() = K.template leftCols<6>() * S.leftCols(degrees);
  y.middleCols(degrees, degrees).noalias() = K.template rightCols<6>() * S.leftCols(degrees);
}

}  // namespace

void ProgramBodies::resize(int nodes) {
  nodes_ = nodes;
  linked_ = false;
  node_.resize(std::max(node_.size(), at(nodes)));
  for (int k = 0; k < nodes; ++k) node_[at(k)].parent = node_[at(k)].body = -1;
  contacts_.clear();
  rows_.clear();
  touching_.clear();
}

void ProgramBodies::link(int node, int parent, int body, const RigidInertia& inertia) {
  linked_ = true;
  Node& n = node_[at(node)];
  n.parent = parent;
  n.body = body;
  n.degrees = 0;
  n.inertia = inertia;
  if (parent < 0) return;
  touching_.push_back(parent);
  touching_.push_back(node);
}

void ProgramBodies::add_axis(int node, int dof, const Spatial& axis, double inertia) {
  Node& n = node_[at(node)];
  if (n.degrees == 0) n.dof = dof;
  n.S.col(n.degrees) = vector(axis);
  n.rotors[n.degrees++] = inertia;
}

void ProgramBodies::add(const Side& a, const Side& b) {
  contacts_.push_back({.side = {a, b}});
  if (a.node < 0 || b.node < 0 || a.node == b.node) return;
  const std::size_t n = touching_.size();
  if (n >= 2 && touching_[n - 2] == a.node && touching_[n - 1] == b.node) return;
  touching_.push_back(a.node);
  touching_.push_back(b.node);
}

void ProgramBodies::add_row(int node, int dof, double sign) {
  rows_.push_back({node, dof - node_[at(node)].dof, sign, 0});
}

void ProgramBodies::prepare(ArticulatedBody* response) {
  response_ = response;
  starts_.resize(at(nodes_) + 1);
  for (int k = 0; k <= nodes_; ++k) starts_[at(k)] = 12 * k;
  parents_.resize(at(nodes_));
  watched_.clear();
  for (int k = 0; k < nodes_; ++k) {
    parents_[at(k)] = node_[at(k)].parent;
    if (node_[at(k)].body >= 0) watched_.push_back(node_[at(k)].body);
  }
  order_.analyse(touching_, starts_, parents_);
  node_at_.resize(at(nodes_));
  for (int k = 0; k < nodes_; ++k) node_at_[at(order_.position(k))] = k;
  if (linked_) {
    response_->watch(watched_);
    response_->find_responses();
  }
  for (Pair& contact : contacts_) {
    for (int i = 0; i < 2; ++i) {
      const Side& s = contact.side[i];
      if (s.node < 0) continue;
      const int body = node_[at(s.node)].body;
      const Mat3 own = body < 0 ? Mat3(s.y * s.y.transpose()) : Mat3(s.y * response_->response(body) * s.y.transpose());
      contact.trace[i] = own.trace();
      contact.A += own;
    }
    contact.A += cross_response(contact);
  }
  for (JointRow& row : rows_) row.A = response_->response_of(node_[at(row.node)].dof + row.axis);
}

// What the two bodies of a contact, in one tree, add to its block by moving each other.
Mat3 ProgramBodies::cross_response(const Pair& contact) {
  const auto& [a, b] = contact.side;
  Mat3 A = Mat3::Zero();
  if (a.node < 0 || b.node < 0) return A;
  const int body_a = node_[at(a.node)].body, body_b = node_[at(b.node)].body;
  if (body_a < 0 || body_b < 0 || !response_->same_tree(body_a, body_b)) return A;
  for (int k = 0; k < 3; ++k) {
    const Vec6 f = a.y.row(k).transpose();
    response_->load(body_a, Spatial{f.head<3>(), f.tail<3>()});
    response_->respond();
    A.col(k) = b.y * vector(response_->acceleration(body_b));
  }
  return A + A.transpose().eval();
}

void ProgramBodies::multiply(const double* x, double* y) {
  moved_.assign(at(nodes_), Vec6::Zero());
  for (std::size_t i = 0; i < contacts_.size(); ++i)
    for (const Side& s : contacts_[i].side)
      if (s.node >= 0) moved_[at(s.node)] += s.y.transpose() * Eigen::Map<const Vec3>(x + 3 * i);
  const double* rows = x + 3 * contacts_.size();
  if (linked_) {
    for (int k = 0; k < nodes_; ++k)
      if (const int body = node_[at(k)].body; body >= 0)
        response_->load(body, Spatial{moved_[at(k)].head<3>(), moved_[at(k)].tail<3>()});
    for (std::size_t r = 0; r < rows_.size(); ++r)
      response_->load(node_[at(rows_[r].node)].dof + rows_[r].axis, rows_[r].sign * rows[r]);
    response_->respond();
    for (int k = 0; k < nodes_; ++k)
      if (const int body = node_[at(k)].body; body >= 0) moved_[at(k)] = vector(response_->acceleration(body));
  }
  for (std::size_t i = 0; i < contacts_.size(); ++i) {
    Vec3 sum = Vec3::Zero();
    for (const Side& s : contacts_[i].side)
      if (s.node >= 0) sum += s.y * moved_[at(s.node)];
    Eigen::Map<Vec3>(y + 3 * i) = sum;
  }
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    const JointRow& row = rows_[r];
    y[3 * contacts_.size() + r] = row.sign * response_->acceleration_of(node_[at(row.node)].dof + row.axis);
  }
}

double ProgramBodies::entry(int unknown, int column) const {
  const int contacts = static_cast<int>(contacts_.size());
  if (unknown < 3 * contacts) return contacts_[at(unknown / 3)].A(unknown % 3, column % 3);
  return rows_[at(unknown - 3 * contacts)].A;
}

bool ProgramBodies::solve(std::span<const Part> parts, const double* w, double eps, double* p) {
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
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    const JointRow& row = rows_[r];
    const Vec12& z = z_[at(order_.position(row.node))];
    const bool in = parts[contacts_.size() + r].kind != Part::Kind::Out;
    p[3 * contacts_.size() + r] = in ? row.sign * z[node_[at(row.node)].degrees + row.axis] / (eps * eps) : 0;
  }
  return true;
}

// (bodies.1)
void ProgramBodies::assemble(std::span<const Part> parts, const double* w, double eps) {
  later_.assign(at(order_.links()), Block::Zero());
  diagonal_.assign(at(nodes_), Block::Zero());
  x_.assign(at(nodes_), Vec12::Zero());
  z_.assign(at(nodes_), Vec12::Zero());
  row_rigidity_.assign(at(nodes_), Vec12::Zero());
  pivots_.resize(at(12 * nodes_));
  for (int k = 0; k < nodes_; ++k) {
    const Node& node = node_[at(k)];
    Block& block = diagonal_[at(order_.position(k))];
    if (node.body < 0) {
      block.topRightCorner<6, 6>().setIdentity();
      block.bottomLeftCorner<6, 6>().setIdentity();
    } else {
      block.topRightCorner<6, 6>() = block.bottomLeftCorner<6, 6>() = matrix(node.inertia);
    }
  }
  for (std::size_t i = 0; i < contacts_.size(); ++i)
    if (parts[i].kind != Part::Kind::Out) add_contact(contacts_[i], parts[i], Eigen::Map<const Vec3>(w + 3 * i), eps);
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    if (parts[contacts_.size() + r].kind == Part::Kind::Out) continue;
    const JointRow& row = rows_[r];
    const std::size_t k = at(order_.position(row.node));
    row_rigidity_[k][row.axis] += 1 / eps;
    z_[k][row.axis] -= row.sign * w[3 * contacts_.size() + r];
  }
}

void ProgramBodies::add_contact(const Pair& contact, const Part& part, const Eigen::Map<const Vec3>& w, double eps) {
  for (const Side& s : contact.side) {
    if (s.node < 0) continue;
    const int position = order_.position(s.node);
    if (part.kind == Part::Kind::Rest)
      x_[at(position)].head<6>() -= s.y.transpose() * w;
    else
      x_[at(position)].head<6>() -= s.y.row(2).transpose() * w.z();
    for (const Side& t : contact.side) {
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

bool ProgramBodies::eliminate(int k) {
  return node_[at(node_at_[at(k)])].body < 0 ? eliminate_single(k) : eliminate_linked(k);
}

// Takes position k out of the later ones: K_ij -= K_ik K_kk^-1 K_kj. The lower half is kept.
bool ProgramBodies::eliminate_single(int k) {
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
    subtract_product(later_[at(j)].data(), x, 12, diagonal_[at(p)].data());
    int target = order_.first(p);
    for (int i = j + 1; i < last; ++i) {
      while (order_.other(target) != order_.other(i)) ++target;
      subtract_product(later_[at(i)].data(), x, 12, later_[at(target)].data());
    }
  }
  return true;
}

// (bodies.4): U_j takes the place of K_ji, the factor of D that of K_ii.
bool ProgramBodies::eliminate_linked(int k) {
  const Node& node = node_[at(node_at_[at(k)])];
  const int m = 2 * node.degrees, first = order_.first(k), last = order_.last(k);
  const int parent = node.parent < 0 ? -1 : order_.position(node.parent);
  Block& K = diagonal_[at(k)];
  K = (0.5 * (K + K.transpose())).eval();  // a skew part, rounding at first, would grow from link to link
  if (parent >= 0) contract(k, parent);
  Block U, own;
  times_axes(K, node.S, node.degrees, own);
  for (int l = first; l < last; ++l) {
    times_axes(later_[at(l)], node.S, node.degrees, U);
    if (order_.other(l) == parent) U.leftCols(m) += own.leftCols(m);
    later_[at(l)].leftCols(m) = U.leftCols(m);
  }
  if (m == 0) return true;
  double* D = K.data();
  Eigen::Map<MatX> d(D, m, m);
  d.topRows(node.degrees).noalias() = node.S.leftCols(node.degrees).transpose() * own.topRows<6>().leftCols(m);
  d.bottomRows(node.degrees).noalias() = node.S.leftCols(node.degrees).transpose() * own.bottomRows<6>().leftCols(m);
  add_joint(node, k, D);
  int* pivot = pivots_.data() + 12 * k;
  if (!dense::lu(D, m, pivot)) return false;
  divided_.resize(std::max(divided_.size(), at(1)));
  double* x = divided_[0].data();  // D^-1 U_j^T, m x 12
  for (int j = first; j < last; ++j) {
    const int p = order_.other(j);
    Eigen::Map<MatX>(x, m, 12) = later_[at(j)].leftCols(m).transpose();
    for (int c = 0; c < 12; ++c) dense::lu_solve(D, m, pivot, x + m * c);
    subtract_product(later_[at(j)].data(), x, m, diagonal_[at(p)].data());
    int target = order_.first(p);
    for (int i = j + 1; i < last; ++i) {
      while (order_.other(target) != order_.other(i)) ++target;
      subtract_product(later_[at(i)].data(), x, m, later_[at(target)].data());
    }
  }
  return true;
}

// K_pp += K_ii + K_pi + K_ip and K_pj += K_ij.
void ProgramBodies::contract(int k, int parent) {
  const Block& link = later_[at(order_.link(k, parent))];
  diagonal_[at(parent)] += diagonal_[at(k)] + link + link.transpose();
  for (int l = order_.first(k); l < order_.last(k); ++l) {
    const int j = order_.other(l);
    if (j > parent)
      later_[at(order_.link(parent, j))] += later_[at(l)];
    else if (j < parent)
      later_[at(order_.link(j, parent))] += later_[at(l)].transpose();
  }
}

// Rotors and rows of a joint.
void ProgramBodies::add_joint(const Node& node, int k, double* D) const {
  const int n = node.degrees, m = 2 * n;
  for (int c = 0; c < n; ++c) {
    D[c + m * (n + c)] += node.rotors[c];
    D[n + c + m * c] += node.rotors[c];
    D[c + m * c] += row_rigidity_[at(k)][c];
    D[n + c + m * (n + c)] -= row_rigidity_[at(k)][c];
  }
}

void ProgramBodies::substitute() {
  for (int k = 0; k < nodes_; ++k) forward(k);
  for (int k = nodes_ - 1; k >= 0; --k) backward(k);
}

void ProgramBodies::forward(int k) {
  const Node& node = node_[at(node_at_[at(k)])];
  const bool linked = node.body >= 0;
  const int n = node.degrees, m = linked ? 2 * n : 12;
  Vec12 z = x_[at(k)];
  if (linked) {
    if (node.parent >= 0) x_[at(order_.position(node.parent))] += x_[at(k)];
    Vec12& right = z_[at(k)];
    right.head(n).noalias() += node.S.leftCols(n).transpose() * x_[at(k)].head<6>();
    right.segment(n, n).noalias() += node.S.leftCols(n).transpose() * x_[at(k)].tail<6>();
    z = right;
  }
  if (m == 0) return;
  dense::lu_solve(diagonal_[at(k)].data(), m, pivots_.data() + 12 * k, z.data());
  for (int l = order_.first(k); l < order_.last(k); ++l)
    x_[at(order_.other(l))].noalias() -= later_[at(l)].leftCols(m) * z.head(m);
}

void ProgramBodies::backward(int k) {
  const Node& node = node_[at(node_at_[at(k)])];
  const bool linked = node.body >= 0;
  const int n = node.degrees, m = linked ? 2 * n : 12;
  Vec12& x = linked ? z_[at(k)] : x_[at(k)];
  if (m > 0) {
    for (int l = order_.first(k); l < order_.last(k); ++l)
      x.head(m).noalias() -= later_[at(l)].leftCols(m).transpose() * x_[at(order_.other(l))];
    dense::lu_solve(diagonal_[at(k)].data(), m, pivots_.data() + 12 * k, x.data());
  }
  if (!linked) return;
  Vec12& V = x_[at(k)];
  if (node.parent < 0)
    V.setZero();
  else
    V = x_[at(order_.position(node.parent))];
  V.head<6>().noalias() += node.S.leftCols(n) * x.head(n);  // (bodies.3)
  V.tail<6>().noalias() += node.S.leftCols(n) * x.segment(n, n);
}

}  // namespace tribo
