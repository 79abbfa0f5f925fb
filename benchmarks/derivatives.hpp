// What the derivative of a step costs, beside MuJoCo's differences.
#pragma once

namespace tribo::bench {

/// scripts/bench --derivatives: CPU microseconds of a step, of a linearisation, of our own differences, and of mjd_transitionFD,
/// after one second of standing or swinging.
int bench_derivatives();

}  // namespace tribo::bench
