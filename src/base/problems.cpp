#include "base/problems.hpp"

#include <algorithm>

namespace tribo {
namespace {

thread_local Collecting* collecting = nullptr;

}  // namespace

Collecting::Collecting() : outer_(collecting) { collecting = this; }
Collecting::~Collecting() { collecting = outer_; }

void note(const InvalidInput& error) {
  constexpr std::size_t most = 1000;  // nobody reads more
  if (collecting == nullptr) throw error;
  const std::string text = error.what();
  // Lines that begin with a space belong to the one before.
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t end = text.find('\n', begin);
    while (end != std::string::npos && end + 1 < text.size() && text[end + 1] == ' ') end = text.find('\n', end + 1);
    const std::string line = text.substr(begin, end - begin);
    auto same = [&](const Problem& p) { return p.text == line; };
    if (collecting->problems_.size() >= most) return;
    if (std::none_of(collecting->problems_.begin(), collecting->problems_.end(), same))
      collecting->problems_.push_back({true, line});
    begin = end == std::string::npos ? text.size() : end + 1;
  }
}

void note_all(const std::vector<std::string>& errors) {
  std::string all;
  for (const std::string& error : errors) all += (all.empty() ? "" : "\n") + error;
  if (!all.empty()) throw InvalidInput(all);
}

}  // namespace tribo
