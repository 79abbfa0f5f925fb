// Threads that wait for work: run(n, f) calls f(0) … f(n - 1), each once, in any order, and returns when all are done.
#pragma once

#include <functional>
#include <memory>

namespace tribo {

class ThreadPool {
 public:
  /// The caller works too: threads - 1 are made. InvalidInput where the system does not give so many.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const;
  /// A fork copies the pool and not its threads: in the new process it can only be dropped.
  bool abandoned() const;
  /// f must not throw. One caller at a time. waiting: called ten times a second while the caller waits for the others.
  void run(int n, const std::function<void(int)>& f, const std::function<void()>& waiting = {});

 private:
  struct Crew;
  std::unique_ptr<Crew> crew_;
};

}  // namespace tribo
