#include "simulation/thread_pool.hpp"

namespace tribo {

ThreadPool::ThreadPool(int threads) {
  for (int i = 1; i < threads; ++i) workers_.emplace_back([this] { work(); });
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  begin_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::take(const std::function<void(int)>& f, int n) {
  for (int i = next_++; i < n; i = next_++) f(i);
}

void ThreadPool::run(int n, const std::function<void(int)>& f) {
  {
    const std::lock_guard lock(mutex_);
    job_ = &f;
    size_ = n;
    next_ = 0;
    active_ = static_cast<int>(workers_.size());
    ++round_;
  }
  begin_.notify_all();
  take(f, n);
  std::unique_lock lock(mutex_);
  end_.wait(lock, [this] { return active_ == 0; });
}

void ThreadPool::work() {
  std::uint64_t seen = 0;
  while (true) {
    const std::function<void(int)>* job;
    int n;
    {
      std::unique_lock lock(mutex_);
      begin_.wait(lock, [&] { return stop_ || round_ != seen; });
      if (stop_) return;
      seen = round_;
      job = job_;
      n = size_;
    }
    take(*job, n);
    const std::lock_guard lock(mutex_);
    if (--active_ == 0) end_.notify_one();
  }
}

}  // namespace tribo
