#pragma once
// The ledger of several steps: stored energies are the last step's, work adds up.
#include "tribo/stepper.hpp"

namespace tribo {

inline void add_step(EnergyLines& sum, const EnergyLines& step) {
  sum.kinetic = step.kinetic;
  sum.potential = step.potential;
  sum.elastic = step.elastic;
  sum.actuators += step.actuators;
  sum.damping += step.damping;
  sum.contacts += step.contacts;
  sum.constraints += step.constraints;
  sum.external += step.external;
  sum.recovery += step.recovery;
  sum.integrator += step.integrator;
}

}  // namespace tribo
