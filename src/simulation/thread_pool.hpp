// Threads that wait for work: run(n, f) calls f(0) … f(n - 1), each once, in any order, and returns when all are done.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace tribo {

class ThreadPool {
 public:
  /// The caller works too: threads - 1 are made.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return static_cast<int>(workers_.size()) + 1; }
  /// f must not throw.
  void run(int n, const std::function<void(int)>& f);

 private:
  void work();
  void take(const std::function<void(int)>& f, int n);

  std::vector<std::thread> workers_;
  std::mutex mutex_;
  std::condition_variable begin_, end_;
  const std::function<void(int)>* job_ = nullptr;
  int size_ = 0, active_ = 0;
  std::uint64_t round_ = 0;
  bool stop_ = false;
  std::atomic<int> next_{0};
};

}  // namespace tribo
