#include "base/legible.hpp"

#include <cstdio>

#include "tribo/types.hpp"

namespace tribo {
namespace {

constexpr std::size_t longest_name = 500;  // [bytes]

// Bytes of the character at a place; 0 where it is a control character, or not UTF-8 (RFC 3629).
std::size_t letter(const std::string& text, std::size_t at) {
  const auto byte = [&](std::size_t k) { return at + k < text.size() ? static_cast<unsigned char>(text[at + k]) : 0u; };
  const auto of = [&](std::size_t bytes) {
    for (std::size_t k = 1; k < bytes; ++k)
      if ((byte(k) & 0xc0) != 0x80) return std::size_t{0};
    return bytes;
  };
  const unsigned a = byte(0), b = byte(1);
  if (a < 0x80) return a >= 0x20 && a != 0x7f ? 1 : 0;
  if (a < 0xc2 || a > 0xf4) return 0;
  if (a < 0xe0) return a == 0xc2 && b < 0xa0 ? 0 : of(2);
  if (a < 0xf0) return (a == 0xe0 && b < 0xa0) || (a == 0xed && b >= 0xa0) ? 0 : of(3);
  return (a == 0xf0 && b < 0x90) || (a == 0xf4 && b >= 0x90) ? 0 : of(4);
}

}  // namespace

std::string legible(const std::string& text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t bytes = text[i] == '\n' || text[i] == '\t' ? 1 : letter(text, i);
    if (bytes > 0) {
      out.append(text, i, bytes);
      i += bytes;
      continue;
    }
    char code[8];
    std::snprintf(code, sizeof code, "\\x%02x", static_cast<unsigned>(static_cast<unsigned char>(text[i++])));
    out += code;
  }
  return out;
}

void check_name(const std::string& what, const std::string& name) {
  if (name.size() > longest_name)
    throw InvalidInput(what + " '" + legible(name.substr(0, 40)) + "…': the name has " + std::to_string(name.size()) +
                       " bytes, at most " + std::to_string(longest_name));
  for (std::size_t i = 0; i < name.size();) {
    const std::size_t bytes = letter(name, i);
    if (bytes == 0)
      throw InvalidInput(what + " '" + legible(name) + "': the name has a control character, or is not UTF-8");
    i += bytes;
  }
}

}  // namespace tribo
