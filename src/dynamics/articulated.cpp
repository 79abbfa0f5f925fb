#include "dynamics/articulated.hpp"

#include <algorithm>

namespace tribo {
namespace {

double dot(const Spatial& a, const Spatial& b) { return a.lin.dot(b.lin) + a.ang.dot(b.ang); }

void add(Spatial& to, const Spatial& x, double share) {
  to.lin += share * x.lin;
  to.ang += share * x.ang;
}

}  // namespace

ArticulatedBody::ArticulatedBody(const Model& model) : model_(&model) {
  const std::size_t nb = model.bodies.size();
  I_.resize(nb);
  f_.resize(nb);
  a_.resize(nb);
  watched_.assign(nb, 0);
  path_.reserve(nb);
  U_.resize(at(model.nv));
  dof_body_.resize(at(model.nv));
  for (VecX* x : {&D_inverse_, &u_, &x_, &tau_}) x->setZero(model.nv);
  for (std::size_t b = 0; b < nb; ++b)
    for (int k = 0; k < nv_of(model.bodies[b].joint); ++k) dof_body_[at(model.bodies[b].iv + k)] = static_cast<int>(b);
}

// (aba.1)
void ArticulatedBody::factor(const Dynamics& motion, const VecX& extra) {
  motion_ = &motion;
  for (const Tree& tree : model_->trees) {
    const int last = tree.first_body + tree.bodies - 1;
    if (tree.single) {
      for (int k = tree.iv; k < tree.iv + 6; ++k) D_inverse_[k] = 1 / (motion.inertia(k) + extra[k]);
      operations_ += 6;
      continue;
    }
    for (int i = tree.first_body; i <= last; ++i) {
      const RigidInertia& r = motion.body_inertia(i);
      I_[at(i)] = {r.m * Mat3::Identity(), -skew(r.mc), r.I};
    }
    for (int i = last; i >= tree.first_body; --i) {
      const Body& body = model_->bodies[at(i)];
      Inertia6& I = I_[at(i)];
      for (int k = body.iv + nv_of(body.joint) - 1; k >= body.iv; --k) {
        const Spatial& S = motion.axis(k);
        Spatial& U = U_[at(k)];
        U = I * S;
        D_inverse_[k] = 1 / (dot(S, U) + model_->joints.armature[k] + extra[k]);
        const Vec3 lin = D_inverse_[k] * U.lin, ang = D_inverse_[k] * U.ang;
        I.A.noalias() -= U.lin * lin.transpose();
        I.B.noalias() -= U.lin * ang.transpose();
        I.C.noalias() -= U.ang * ang.transpose();
        ++operations_;
      }
      if (body.parent < 0) continue;
      Inertia6& parent = I_[at(body.parent)];
      parent.A += I.A;
      parent.B += I.B;
      parent.C += I.C;
    }
  }
}

// (aba.2) of one body: f is what acts on it and on all behind it, then what it hands to its parent.
void ArticulatedBody::pull(int i, Spatial& f) {
  const Body& body = model_->bodies[at(i)];
  const bool single = model_->trees[at(body.tree)].single;
  for (int k = body.iv + nv_of(body.joint) - 1; k >= body.iv; --k) {
    u_[k] = tau_[k] + dot(motion_->axis(k), f);
    if (!single) add(f, U_[at(k)], -D_inverse_[k] * u_[k]);
    ++operations_;
  }
}

// (aba.3) of one body.
void ArticulatedBody::push(int i) {
  const Body& body = model_->bodies[at(i)];
  const bool single = model_->trees[at(body.tree)].single;
  Spatial a = body.parent < 0 ? Spatial{} : a_[at(body.parent)];
  for (int k = body.iv; k < body.iv + nv_of(body.joint); ++k) {
    x_[k] = D_inverse_[k] * (single ? u_[k] : u_[k] - dot(U_[at(k)], a));
    add(a, motion_->axis(k), x_[k]);
    ++operations_;
  }
  a_[at(i)] = a;
}

void ArticulatedBody::load(int body, const Vec3& p_W, const Vec3& f_W) {
  if (body < 0) return;
  const Vec3 r = p_W - motion_->origin(model_->bodies[at(body)].tree);
  f_[at(body)].lin += f_W;
  f_[at(body)].ang += r.cross(f_W);
}

void ArticulatedBody::solve(const VecX& tau, VecX& x) {
  tau_ = tau;
  const int nb = static_cast<int>(model_->bodies.size());
  for (int i = nb - 1; i >= 0; --i) {
    Spatial& f = f_[at(i)];
    pull(i, f);
    const int parent = model_->bodies[at(i)].parent;
    if (parent >= 0) add(f_[at(parent)], f, 1);
    f = {};
  }
  for (int i = 0; i < nb; ++i) push(i);
  tau_.setZero();
  x = x_;
}

void ArticulatedBody::watch(std::span<const int> bodies) {
  for (int i : path_) watched_[at(i)] = 0;
  path_.clear();
  for (int body : bodies)
    for (int i = body; i >= 0 && !watched_[at(i)]; i = model_->bodies[at(i)].parent) {
      watched_[at(i)] = 1;
      path_.push_back(i);
    }
  std::sort(path_.begin(), path_.end());
  for (int i : path_) {
    const Body& body = model_->bodies[at(i)];
    u_.segment(body.iv, nv_of(body.joint)).setZero();
  }
}

// Only degrees on the paths of the loads have u other than zero; they are cleared again afterwards.
void ArticulatedBody::respond(const Load& first, const Load& second, int dof, double torque, int other,
                              double other_torque) {
  load(first.body, first.p_W, first.f_W);
  load(second.body, second.p_W, second.f_W);
  if (dof >= 0) tau_[dof] = torque;
  if (other >= 0) tau_[other] = other_torque;
  auto body_of = [&](int k) { return k >= 0 ? dof_body_[at(k)] : -1; };
  const int loaded[] = {first.body, second.body, body_of(dof), body_of(other)};
  // From the deepest up; where two paths meet they go on as one. Parents have smaller indices than their children.
  int front[] = {loaded[0], loaded[1], loaded[2], loaded[3]};
  for (;;) {
    const int i = std::max({front[0], front[1], front[2], front[3]});
    if (i < 0) break;
    pull(i, f_[at(i)]);
    const int parent = model_->bodies[at(i)].parent;
    if (parent >= 0) add(f_[at(parent)], f_[at(i)], 1);
    f_[at(i)] = {};
    for (int& x : front)
      if (x == i) x = parent;
  }
  int trees[4];
  for (int k = 0; k < 4; ++k) trees[k] = loaded[k] < 0 ? -1 : model_->bodies[at(loaded[k])].tree;
  for (int i : path_) {
    const int tree = model_->bodies[at(i)].tree;
    if (tree == trees[0] || tree == trees[1] || tree == trees[2] || tree == trees[3])
      push(i);
    else
      a_[at(i)] = {};
  }
  for (int b : loaded)
    for (int i = b; i >= 0; i = model_->bodies[at(i)].parent) {
      const Body& body = model_->bodies[at(i)];
      u_.segment(body.iv, nv_of(body.joint)).setZero();
    }
  if (dof >= 0) tau_[dof] = 0;
  if (other >= 0) tau_[other] = 0;
}

void ArticulatedBody::load(int body, const Spatial& f) { add(f_[at(body)], f, 1); }

bool ArticulatedBody::same_tree(int a, int b) const { return model_->bodies[at(a)].tree == model_->bodies[at(b)].tree; }

void ArticulatedBody::respond() {
  for (std::size_t k = path_.size(); k-- > 0;) {
    const int i = path_[k], parent = model_->bodies[at(i)].parent;
    pull(i, f_[at(i)]);
    if (parent >= 0) add(f_[at(parent)], f_[at(i)], 1);
    f_[at(i)] = {};
  }
  for (int i : path_) push(i);
  for (int i : path_) {
    const Body& body = model_->bodies[at(i)];
    u_.segment(body.iv, nv_of(body.joint)).setZero();
    tau_.segment(body.iv, nv_of(body.joint)).setZero();
  }
}

// One body of (aba.5), (aba.6).
void ArticulatedBody::respond_diagonal(int i, const Mat6& parent, Mat6& W, VecX& diagonal) const {
  using Vec6 = Eigen::Matrix<double, 6, 1>;
  const auto vector = [](const Spatial& s) { return (Vec6() << s.lin, s.ang).finished(); };
  const Body& body = model_->bodies[at(i)];
  const bool single = model_->trees[at(body.tree)].single;
  W = parent;
  for (int k = body.iv; k < body.iv + nv_of(body.joint); ++k) {
    if (single) {
      diagonal[k] = D_inverse_[k];
      continue;
    }
    const Vec6 S = vector(motion_->axis(k)), U = vector(U_[at(k)]);
    const Vec6 WU = W * U;
    const double UWU = U.dot(WU);
    diagonal[k] = (1 + UWU * D_inverse_[k]) * D_inverse_[k];  // (aba.6)
    W.noalias() -= D_inverse_[k] * (S * WU.transpose() + WU * S.transpose());
    W.noalias() += diagonal[k] * S * S.transpose();  // (aba.5)
  }
}

void ArticulatedBody::find_responses() {
  response_.resize(model_->bodies.size());
  response_of_.resize(model_->nv);
  for (int i : path_) {
    const int parent = model_->bodies[at(i)].parent;
    respond_diagonal(i, parent < 0 ? Mat6(Mat6::Zero()) : response_[at(parent)], response_[at(i)], response_of_);
  }
}

void ArticulatedBody::inverse_diagonal(VecX& diagonal) const {
  diagonal.resize(model_->nv);
  std::vector<Mat6> response(model_->bodies.size());
  for (std::size_t i = 0; i < model_->bodies.size(); ++i) {
    const int parent = model_->bodies[i].parent;
    respond_diagonal(static_cast<int>(i), parent < 0 ? Mat6(Mat6::Zero()) : response[at(parent)], response[i],
                     diagonal);
  }
}

Vec3 ArticulatedBody::point_acceleration(int body, const Vec3& p_W) const {
  if (body < 0) return Vec3::Zero();
  const Spatial& a = a_[at(body)];
  return a.lin + a.ang.cross(p_W - motion_->origin(model_->bodies[at(body)].tree));
}

// (aba.4)
double ArticulatedBody::energy_rate(const VecX& v) const {
  double rate = v.dot(motion_->h());
  for (const Tree& tree : model_->trees) {
    if (tree.single) {
      for (int k = tree.iv; k < tree.iv + 6; ++k) rate += motion_->inertia(k) * v[k] * x_[k];
      continue;
    }
    for (int i = tree.first_body; i < tree.first_body + tree.bodies; ++i)
      rate += dot(motion_->body_inertia(i) * motion_->body_velocity(i), a_[at(i)]);
    for (int k = tree.iv; k < tree.iv + tree.nv; ++k) rate += model_->joints.armature[k] * v[k] * x_[k];
  }
  return rate;
}

}  // namespace tribo
