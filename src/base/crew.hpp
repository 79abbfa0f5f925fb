// Threads that share jobs: share(n, f) calls f(job, slot) for the jobs 0 … n - 1, each once, in any order. What a job works
// with belongs to its slot: no two jobs of a slot run at once. The same comes out for any number of threads where each job
// depends on nothing that another one leaves behind.
#pragma once

#include <algorithm>
#include <atomic>
#include <functional>

#include "base/thread_pool.hpp"

namespace tribo {

class Crew {
 public:
  explicit Crew(int threads) : pool_(threads) {}
  int slots() const { return pool_.threads(); }

  template <class F>
  void share(int jobs, F&& f) {
    std::atomic<int> next{0};
    const auto work = [&](int slot) {
      for (int job; (job = next++) < jobs;) f(job, slot);
    };
    if (jobs < 2 || pool_.abandoned()) return work(0);  // a fork has no threads
    pool_.run(slots(), std::cref(work));
  }

 private:
  ThreadPool pool_;
};

}  // namespace tribo
