#include "base/thread_pool.hpp"

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "tribo/types.hpp"

namespace tribo {
namespace {

/// Forks between the first process and this one.
int forks() {
  static std::atomic<int> count{0};
  static const int registered = pthread_atfork(nullptr, nullptr, [] { ++count; });
  return registered == 0 ? count.load() : 0;
}

}  // namespace

struct ThreadPool::Crew {
  std::vector<std::thread> workers;
  const int born = forks();
  std::mutex mutex;
  std::condition_variable begin, end;
  const std::function<void(int)>* job = nullptr;
  int size = 0, active = 0;
  std::uint64_t round = 0;
  bool stop = false;
  std::atomic<int> next{0};

  void take(const std::function<void(int)>& f, int n) {
    for (int i = next++; i < n; i = next++) f(i);
  }

  void work() {
    std::uint64_t seen = 0;
    while (true) {
      const std::function<void(int)>* mine;
      int n;
      {
        std::unique_lock lock(mutex);
        begin.wait(lock, [&] { return stop || round != seen; });
        if (stop) return;
        seen = round;
        mine = job;
        n = size;
      }
      take(*mine, n);
      const std::lock_guard lock(mutex);
      if (--active == 0) end.notify_one();
    }
  }

  void dismiss() {
    {
      const std::lock_guard lock(mutex);
      stop = true;
    }
    begin.notify_all();
    for (std::thread& worker : workers) worker.join();
  }
};

ThreadPool::ThreadPool(int threads) : crew_(std::make_unique<Crew>()) {
  try {
    crew_->workers.reserve(static_cast<std::size_t>(threads));
    for (int i = 1; i < threads; ++i) crew_->workers.emplace_back([crew = crew_.get()] { crew->work(); });
  } catch (const std::system_error& error) {
    const int had = this->threads();
    crew_->dismiss();
    throw InvalidInput(std::to_string(threads) + " threads: the system gives " + std::to_string(had) + " (" +
                       error.what() + ")");
  }
}

ThreadPool::~ThreadPool() {
  if (abandoned())
    static_cast<void>(crew_.release());  // to destroy it would be to wait for threads that are not in this process
  else
    crew_->dismiss();
}

int ThreadPool::threads() const { return static_cast<int>(crew_->workers.size()) + 1; }

bool ThreadPool::abandoned() const { return !crew_->workers.empty() && forks() != crew_->born; }

void ThreadPool::run(int n, const std::function<void(int)>& f, const std::function<void()>& waiting) {
  Crew& c = *crew_;
  {
    const std::lock_guard lock(c.mutex);
    c.job = &f;
    c.size = n;
    c.next = 0;
    c.active = static_cast<int>(c.workers.size());
    ++c.round;
  }
  c.begin.notify_all();
  c.take(f, n);
  std::unique_lock lock(c.mutex);
  const auto done = [&c] { return c.active == 0; };
  if (!waiting) return c.end.wait(lock, done);
  while (!c.end.wait_for(lock, std::chrono::milliseconds(100), done)) {
    lock.unlock();
    waiting();
    lock.lock();
  }
}

}  // namespace tribo
