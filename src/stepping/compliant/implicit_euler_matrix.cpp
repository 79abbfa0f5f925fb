// The matrix dr/dz of (implicit.1) and a step of Newton's method with it.
#include <algorithm>
#include <cmath>
#include <utility>

#include "dynamics/group.hpp"
#include "stepping/compliant/implicit_euler.hpp"

namespace tribo {
namespace {

// d(projected force) / d(force before projection).
Mat3 projection_slope(const CompliantContact& s, const Vec3& wanted) {
  if (s.mode == ContactMode::Open) return Mat3::Zero();
  if (s.mode == ContactMode::Stick) return Mat3::Identity();
  const double size = std::hypot(wanted.x(), wanted.y());
  const Eigen::Vector2d u = wanted.head<2>() / size;
  Mat3 P = Mat3::Zero();
  P.topLeftCorner<2, 2>() = s.mu() * wanted.z() / size * (Eigen::Matrix2d::Identity() - u * u.transpose());
  P.topRightCorner<2, 1>() = s.mu() * u;
  P(2, 2) = 1;
  return P;
}

}  // namespace

Mat3 ImplicitEuler::cone_slope(std::size_t i) const { return projection_slope(active_[i], wanted_[i]); }

bool ImplicitEuler::factor_end(const Model& model, double h) {
  by_q_end_.setZero(model.nv, model.nv);
  linearising_ = true;
  const bool regular = factor(model, h, 0);
  linearising_ = false;
  for (std::size_t t = 0; t < model.trees.size(); ++t) {
    const Tree& tree = model.trees[t];
    by_q_end_.block(tree.iv, tree.iv, tree.nv, tree.nv) += std::as_const(inverse_).dq().tree(static_cast<int>(t));
  }
  return regular;
}

// step_ = -(dr/dz)^-1 r at the point where the last residual was taken.
bool ImplicitEuler::newton_step(const Model& model, double h, double reg) {
  step_ = -r_;
  if (!factor(model, h, reg)) return false;
  A_.solve(step_.data());
  return step_.allFinite();
}

// Of dr/dz there.
bool ImplicitEuler::factor(const Model& model, double h, double reg) {
  inverse_.differentiate(stage_, v_end_, a_);
  gather_rows();
  list_pairs(model);
  A_.analyse(pairs_, tree_start_);
  A_.set_zero();
  find_turns(h);
  for (std::size_t i = 0; i < active_.size(); ++i) add_contact(model, i, h);
  for (std::size_t i = 0; i + 1 < row_start_.size(); ++i) add_row(i, h);
  for (std::size_t j = 0; j < limits_.size(); ++j) {
    if (!(limits_[j].mean > 0)) continue;
    const int k = rows_[j].coordinate()->dof;
    inverse_.dq()(k, k) += options_.limit_stiffness;
    inverse_.dv()(k, k) += limits_[j].B;
  }
  for (int t = 0; t < static_cast<int>(model.trees.size()); ++t) add_tree(model, t, h, reg);
  return A_.factor();
}

// Rows that are not at a bound: the coordinates of each, those of a free or spherical joint together.
void ImplicitEuler::gather_rows() {
  row_start_.clear();
  row_dofs_.clear();
  row_entries_.clear();
  if (row_springs_.empty()) return;
  row_start_.push_back(0);
  for (const RowSpring& s : row_springs_.all()) {
    if (s.law.mean > s.law.lower && s.law.mean < s.law.upper) {
      row_springs_.jacobian(s.at, stage_, row_);
      for (int first = 0, end = 0; first < row_.size(); first = end) {
        end = turn_of_[at(first)] >= 0 ? joint_end_[at(first)] : first + 1;
        if (row_.segment(first, end - first).isZero(0)) continue;
        for (int k = first; k < end; ++k) {
          row_dofs_.push_back(k);
          row_entries_.push_back(row_[k]);
        }
      }
    }
    row_start_.push_back(static_cast<int>(row_dofs_.size()));
  }
}

// Trees that a contact or a row lies between.
void ImplicitEuler::list_pairs(const Model& model) {
  pairs_.clear();
  const auto add = [&](int a, int b) {
    const std::size_t n = pairs_.size();
    if (a == b || (n >= 2 && pairs_[n - 2] == a && pairs_[n - 1] == b)) return;
    pairs_.push_back(a);
    pairs_.push_back(b);
  };
  for (const Contact& c : contacts_)
    if (c.body_a >= 0 && c.body_b >= 0) add(model.bodies[at(c.body_a)].tree, model.bodies[at(c.body_b)].tree);
  for (std::size_t i = 0; i + 1 < row_start_.size(); ++i)
    for (int k = row_start_[i]; k < row_start_[i + 1]; ++k)
      for (int j = k + 1; j < row_start_[i + 1]; ++j)
        add(tree_of_[at(row_dofs_[at(k)])], tree_of_[at(row_dofs_[at(j)])]);
}

void ImplicitEuler::find_turns(double h) {
  for (Turn& turn : turns_) {
    const Vec3 w = h * v_end_.segment<3>(turn.angular);
    turn.T = h * right_jacobian(w);
    if (turn.linear < 0) continue;
    turn.back = rotation_exponential(-w).toRotationMatrix();
    turn.v = skew(v_end_.segment<3>(turn.linear));
    turn.a = skew(a_.segment<3>(turn.linear));
  }
}

// - d(J^T f): the force changes with x and c, and J with q.
void ImplicitEuler::add_contact(const Model& model, std::size_t i, double h) {
  const CompliantContact& s = active_[i];
  if (s.mode == ContactMode::Open) return;
  dofs_.clear();
  add_side(model, i, 1);
  add_side(model, i, -1);
  const LawSlope law = slope(s, followed_[i].x, followed_[i].c);
  const Mat3 P = projection_slope(s, wanted_[i]), PK = P * law.K.asDiagonal(), PB = P * law.B.asDiagonal();
  for (int j : dofs_) {
    Fq_.col(j) = PK * Vec3(Jx_.col(j)) + PB * Vec3(by_q_.col(j));
    Fv_.col(j) = PB * Vec3(J_.col(j));
  }
  add_coupling(h);
}

// J, dx/dq and dc/dq of a contact, as far as the chain of one of its bodies goes; the turning of that body's J.
void ImplicitEuler::add_side(const Model& model, std::size_t i, double sign) {
  const CompliantContact& s = active_[i];
  const Contact& c = contacts_[i];
  const int body = sign > 0 ? c.body_b : c.body_a;
  if (body < 0) return;
  const std::vector<int>& chain = model.bodies[at(body)].chain;
  for (int k : chain)
    if (std::find(dofs_.begin(), dofs_.end(), k) == dofs_.end()) {
      dofs_.push_back(k);
      for (Columns* x : {&J_, &Jx_, &by_q_}) x->col(k).setZero();
    }
  const Followed& f = followed_[i];
  const Vec3 off = sign > 0 ? s.off_b : s.off_a;
  const Vec3 r = (sign > 0 ? f.p_b : f.p_a) - stage_.origin(model.bodies[at(body)].tree), core = r - off;
  const Mat3& turn = sign > 0 ? f.turn_b : f.turn_a;
  const Mat3 theta = 0.5 * (turn.trace() * Mat3::Identity() - turn);  // d(theta) of (compliant.7) by a rotation
  const Spatial& V = stage_.body_velocity(body);
  const Vec3 g = sign * (c.R_WC * s.mean), moment = r.cross(g);
  for (int j : chain) {
    const Spatial &S = stage_.axis(j), &psi = inverse_.psi(j);
    const Vec3 move = S.lin + S.ang.cross(core);
    // The twist of the body, turned by S, at the point that went along with the core.
    const Vec3 lin = S.ang.cross(V.lin) + S.lin.cross(V.ang) + psi.lin, ang = S.ang.cross(V.ang) + psi.ang;
    J_.col(j) += sign * (c.R_WC.transpose() * (S.lin + S.ang.cross(r)));
    Jx_.col(j) += sign * (c.R_WC.transpose() * (move + Vec3(theta * S.ang).cross(off)));
    by_q_.col(j) += sign * (c.R_WC.transpose() * (lin + ang.cross(r) + V.ang.cross(move)));
    for (int k : chain) {  // J^T turns while the force stays
      const Spatial& Sk = stage_.axis(k);
      double slope = Sk.ang.dot(move.cross(g));
      if (j < joint_end_[at(k)])
        slope += (S.ang.cross(Sk.lin) + S.lin.cross(Sk.ang)).dot(g) + S.ang.cross(Sk.ang).dot(moment);
      inverse_.dq()(k, j) -= slope;
    }
  }
}

// As a contact of one component. Without the turning of J: it is small beside K and B.
void ImplicitEuler::add_row(std::size_t i, double h) {
  const RowSpring& s = row_springs_.all()[i];
  dofs_.assign(row_dofs_.begin() + row_start_[i], row_dofs_.begin() + row_start_[i + 1]);
  for (std::size_t k = 0; k < dofs_.size(); ++k) {
    const Vec3 J(row_entries_[at(row_start_[i]) + k], 0, 0);
    J_.col(dofs_[k]) = J;
    Fq_.col(dofs_[k]) = s.law.K * J;
    Fv_.col(dofs_[k]) = s.law.B * J;
  }
  add_coupling(h);
}

// A += J^T F, F = dF/dz (3 x nv) from the slopes Fq along q and Fv along v, over dofs_.
void ImplicitEuler::add_coupling(double h) {
  if (linearising_)
    for (int j : dofs_)
      for (int k : dofs_) by_q_end_(k, j) += J_.col(k).dot(Fq_.col(j));
  for (int j : dofs_) {
    const int t = turn_of_[at(j)];
    if (t < 0) {
      F_.col(j) = h * Fq_.col(j) + Fv_.col(j);
      continue;
    }
    const Turn& turn = turns_[at(t)];
    if (j == turn.linear) F_.middleCols<3>(j) = (h * Fq_.middleCols<3>(j) + Fv_.middleCols<3>(j)) * turn.back;
    if (j != turn.angular) continue;
    F_.middleCols<3>(j) = Fq_.middleCols<3>(j) * turn.T + Fv_.middleCols<3>(j);
    if (turn.linear >= 0) F_.middleCols<3>(j) += Fv_.middleCols<3>(turn.linear) * turn.v * turn.T;  // (implicit.2)
  }
  const auto tree_end = [&](std::size_t first) {
    std::size_t last = first;
    while (last < dofs_.size() && tree_of_[at(dofs_[last])] == tree_of_[at(dofs_[first])]) ++last;
    return last;
  };
  for (std::size_t a = 0, a_end = 0; a < dofs_.size(); a = a_end) {
    a_end = tree_end(a);
    for (std::size_t b = 0, b_end = 0; b < dofs_.size(); b = b_end) {
      b_end = tree_end(b);
      const int row_tree = tree_of_[at(dofs_[a])], column_tree = tree_of_[at(dofs_[b])];
      const BlockLu::Block block = A_.block(row_tree, column_tree);
      const int row = tree_start_[at(row_tree)], column = tree_start_[at(column_tree)];
      for (std::size_t j = b; j < b_end; ++j)
        for (std::size_t k = a; k < a_end; ++k)
          block(dofs_[k] - row, dofs_[j] - column) += J_.col(dofs_[k]).dot(F_.col(dofs_[j]));
    }
  }
}

// The block of a tree, from the slopes along q, v and a (implicit.2), with damping and gains of its joints.
void ImplicitEuler::add_tree(const Model& model, int t, double h, double reg) {
  const Tree& tree = model.trees[at(t)];
  const int iv = tree.iv, nv = tree.nv;
  if (nv == 0) return;
  const auto Eq = inverse_.dq().tree(t), Ev = inverse_.dv().tree(t);
  const auto M = inverse_.M().tree(t);
  Eigen::Map<MatX> A(A_.block(t, t).first, nv, nv);
  for (int j = 0; j < nv; ++j) {
    const int found = turn_of_[at(iv + j)];
    if (found < 0) {
      A.col(j) += h * Eq.col(j) + Ev.col(j) + M.col(j) / h;
      continue;
    }
    const Turn& turn = turns_[at(found)];
    if (iv + j == turn.linear)
      for (int k = 0; k < nv; ++k) {
        const Eigen::RowVector3d row =
            h * Eq.row(k).segment<3>(j) + Ev.row(k).segment<3>(j) + M.row(k).segment<3>(j) / h;
        A.row(k).segment<3>(j) += row * turn.back;
      }
    if (iv + j != turn.angular) continue;
    for (int k = 0; k < nv; ++k) {
      const Eigen::RowVector3d q_row = Eq.row(k).segment<3>(j);
      A.row(k).segment<3>(j) += q_row * turn.T + Ev.row(k).segment<3>(j) + M.row(k).segment<3>(j) / h;
      if (turn.linear < 0) continue;
      const int l = turn.linear - iv;
      const Eigen::RowVector3d v_row = Ev.row(k).segment<3>(l), m_row = M.row(k).segment<3>(l);
      A.row(k).segment<3>(j) += (v_row * turn.v + m_row * turn.a) * turn.T;
    }
  }
  for (int k = 0; k < nv; ++k) {
    A(k, k) += gain_[iv + k] + model.joints.damping[iv + k];
    A(k, k) += reg * std::abs(A(k, k));
  }
}

}  // namespace tribo
