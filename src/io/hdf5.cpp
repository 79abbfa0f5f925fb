#include "io/hdf5.hpp"

#include <zlib.h>

#include <algorithm>
#include <bit>
#include <limits>

#include "base/file.hpp"
#include "tribo/types.hpp"

namespace tribo {
namespace {

constexpr std::uint64_t largest_hdf5 = 1ull << 30;  // [bytes]
constexpr std::uint64_t most_hdf5_numbers = 1ull << 28;
constexpr std::uint64_t most_unpacked = 1032;  // bytes that deflate makes of one
constexpr std::uint64_t nowhere = ~std::uint64_t{0};
constexpr std::size_t most_messages = 10'000;
namespace kind {  // of a message of an object's header
enum : unsigned {
  space = 1,
  link_info = 2,
  type = 3,
  link = 6,
  external = 7,
  layout = 8,
  filters = 11,
  more = 16,
  table = 17
};
}

}  // namespace

void Hdf5File::refuse(const std::string& name, const std::string& why) const {
  throw InvalidInput(path_ + ": '" + name + "' " + why);
}

void Hdf5File::broken(std::uint64_t at) const {
  throw InvalidInput(path_ + ": is broken at byte " + std::to_string(at) + ", or ends before it");
}

std::uint64_t Hdf5File::number(std::uint64_t at, unsigned bytes) const {
  if (at > file_.size() || bytes > file_.size() - at) broken(at);
  std::uint64_t x = 0;
  for (unsigned k = bytes; k-- > 0;) x = x << 8 | static_cast<unsigned char>(file_[at + k]);
  return x;
}

bool Hdf5File::signature(std::uint64_t at, const char* letters) const {
  if (at > file_.size() || 4 > file_.size() - at) broken(at);
  return file_.compare(at, 4, letters) == 0;
}

// II.A
Hdf5File::Hdf5File(const std::string& path) : path_(path), file_(read_text(path, largest_hdf5)) {
  if (file_.compare(0, 8, "\x89HDF\r\n\x1a\n") != 0) throw InvalidInput(path + ": is not an HDF5 file");
  const std::uint64_t version = number(8, 1);
  const unsigned sizes = version < 2 ? 13 : 9;
  if (version > 3 || number(sizes, 1) != 8 || number(sizes + 1, 1) != 8)
    throw InvalidInput(path + ": is of a version of HDF5's format that is not read");
  const unsigned base = version == 0 ? 24 : version == 1 ? 28 : 12;
  if (number(base, 8) != 0) throw InvalidInput(path + ": its numbers do not begin at its first byte: not read");
  root_ = version < 2 ? number(base + 40, 8) : number(36, 8);
}

// IV.A.1: version 1 begins with 1, version 2 with OHDR.
std::vector<Hdf5File::Message> Hdf5File::messages(std::uint64_t object) const {
  std::vector<Message> list, blocks;
  unsigned version = 1;
  bool ordered = false;
  if (signature(object, "OHDR")) {
    version = 2;
    const unsigned flags = static_cast<unsigned>(number(object + 5, 1));
    const unsigned width = 1u << (flags & 3), before = 6 + (flags & 0x20 ? 16 : 0) + (flags & 0x10 ? 4 : 0);
    ordered = flags & 0x04;
    blocks.push_back({kind::more, 0, object + before + width, number(object + before, width)});
  } else {
    if (number(object, 1) != 1) broken(object);
    blocks.push_back({kind::more, 0, object + 16, number(object + 8, 4)});
  }
  for (std::size_t k = 0; k < blocks.size(); ++k) {
    std::uint64_t at = blocks[k].at, size = blocks[k].size;
    if (at > file_.size() || size > file_.size() - at) broken(at);
    if (version == 2 && k > 0) {
      if (size < 8 || !signature(at, "OCHK")) broken(at);
      at += 4, size -= 8;
    }
    block(at, at + size, version, ordered, list, blocks);
  }
  return list;
}

void Hdf5File::block(std::uint64_t at, std::uint64_t end, unsigned version, bool ordered, std::vector<Message>& list,
                     std::vector<Message>& blocks) const {
  const unsigned head = version == 1 ? 8 : ordered ? 6 : 4;
  while (at + head <= end) {
    Message m;
    m.type = static_cast<unsigned>(number(at, version == 1 ? 2 : 1));
    m.size = number(at + (version == 1 ? 2 : 1), 2);
    m.flags = static_cast<unsigned>(number(at + (version == 1 ? 4 : 3), 1));
    m.at = at + head;
    if (m.size > end - m.at || list.size() >= most_messages) broken(at);
    at = m.at + m.size;
    list.push_back(m);
    if (m.type == kind::more && m.size >= 16) blocks.push_back({kind::more, 0, number(m.at, 8), number(m.at + 8, 8)});
  }
}

std::optional<std::uint64_t> Hdf5File::find(const std::string& name) const {
  std::optional<std::uint64_t> object = root_;
  for (std::size_t begin = 1; object && begin < name.size();) {
    const std::size_t end = std::min(name.find('/', begin), name.size());
    object = child(*object, name.substr(begin, end - begin), name.substr(0, end));
    begin = end + 1;
  }
  return object;
}

bool Hdf5File::has(const std::string& name) const { return find(name).has_value(); }

std::optional<std::uint64_t> Hdf5File::child(std::uint64_t group, const std::string& part,
                                             const std::string& name) const {
  for (const Message& m : messages(group)) {
    std::optional<std::uint64_t> found;
    if (m.type == kind::table) found = in_table(m, part, name);
    if (m.type == kind::link) found = in_link(m, part, name);
    if (found) return found;
    if (m.type != kind::link_info) continue;
    const unsigned flags = static_cast<unsigned>(number(m.at + 1, 1));
    if (number(m.at + (flags & 1 ? 10 : 2), 8) != nowhere)
      refuse(name, "is among so many links that they are not read");
  }
  return std::nullopt;
}

// III.A, III.C, III.D: a tree of nodes of entries whose names lie in a heap.
std::optional<std::uint64_t> Hdf5File::in_table(const Message& m, const std::string& part,
                                                const std::string& name) const {
  const std::uint64_t tree = number(m.at, 8), heap = number(m.at + 8, 8);
  if (!signature(heap, "HEAP")) broken(heap);
  const std::uint64_t size = number(heap + 8, 8), names = number(heap + 24, 8);
  if (names > file_.size() || size > file_.size() - names) broken(heap);
  std::optional<std::uint64_t> found;
  std::uint64_t left = file_.size() / 8;
  walk(tree, 0, 256, 8, left, [&](std::uint64_t, std::uint64_t node) {
    if (!signature(node, "SNOD")) broken(node);
    const std::uint64_t count = number(node + 6, 2);
    for (std::uint64_t k = 0; k < count; ++k) {
      const std::uint64_t entry = node + 8 + 40 * k, text = number(entry, 8);
      if (left-- == 0 || text >= size || part.size() >= size - text) broken(entry);
      if (file_.compare(names + text, part.size(), part) != 0 || file_[names + text + part.size()] != '\0') continue;
      if (number(entry + 16, 4) == 2) refuse(name, "is a link to elsewhere, which is not followed");
      found = number(entry + 8, 8);
      return;
    }
  });
  return found;
}

// IV.A.2.g
std::optional<std::uint64_t> Hdf5File::in_link(const Message& m, const std::string& part,
                                               const std::string& name) const {
  const unsigned flags = static_cast<unsigned>(number(m.at + 1, 1));
  std::uint64_t at = m.at + 2;
  const std::uint64_t hard = flags & 0x08 ? number(at++, 1) : 0;
  at += (flags & 0x04 ? 8 : 0) + (flags & 0x10 ? 1 : 0);
  const unsigned width = 1u << (flags & 3);
  const std::uint64_t length = number(at, width);
  at += width;
  if (length != part.size()) return std::nullopt;
  if (at > file_.size() || length > file_.size() - at) broken(at);
  if (file_.compare(at, length, part) != 0) return std::nullopt;
  if (hard != 0) refuse(name, "is a link to elsewhere, which is not followed");
  return number(at + length, 8);
}

// III.A.1: nodes of a level below that of their parent, children of the lowest are what the tree holds. `left` bounds the work
// where nodes are shared.
void Hdf5File::walk(std::uint64_t node, unsigned type, unsigned below, unsigned key, std::uint64_t& left,
                    const Visit& leaf) const {
  if (!signature(node, "TREE") || number(node + 4, 1) != type) broken(node);
  const unsigned level = static_cast<unsigned>(number(node + 5, 1));
  const std::uint64_t count = number(node + 6, 2);
  if (level >= below || (below != 256 && level + 1 != below)) broken(node);
  for (std::uint64_t k = 0; k < count; ++k) {
    const std::uint64_t at = node + 24 + k * (key + 8), to = number(at + key, 8);
    if (left == 0) broken(at);
    --left;
    if (level == 0)
      leaf(at, to);
    else
      walk(to, type, level, key, left, leaf);
  }
}

Hdf5File::DataSet Hdf5File::data_set(const std::string& name) const {
  const auto object = find(name);
  if (!object) refuse(name, "is missing");
  const std::vector<Message> list = messages(*object);
  const auto message = [&](unsigned wanted) -> const Message* {
    const auto found = std::find_if(list.begin(), list.end(), [&](const Message& m) { return m.type == wanted; });
    if (found == list.end()) return nullptr;
    if (found->flags & 2) refuse(name, "shares its description with others: not read");
    return &*found;
  };
  if (message(kind::external)) refuse(name, "lies in another file, which is not opened");
  const Message *s = message(kind::space), *t = message(kind::type), *l = message(kind::layout),
                *f = message(kind::filters);
  if (!s || !t || !l) refuse(name, "is not a data set");
  DataSet set;
  unsigned rank = 0;
  read_space(*s, name, set, rank);
  read_type(*t, name, set);
  read_layout(*l, name, set, rank);
  if (f) read_filters(*f, name, set);
  const std::uint64_t room = std::min<std::uint64_t>(set.stored, file_.size()) * (set.deflated ? most_unpacked : 1);
  if (set.stored > file_.size() || set.count > room / set.width)
    refuse(name, "claims " + std::to_string(set.count) + " numbers of " + std::to_string(set.width) +
                     " bytes and stores " + std::to_string(set.stored) + " bytes in a file of " +
                     std::to_string(file_.size()));
  return set;
}

// IV.A.2.b
void Hdf5File::read_space(const Message& m, const std::string& name, DataSet& set, unsigned& rank) const {
  const std::uint64_t version = number(m.at, 1);
  if (version != 1 && version != 2) broken(m.at);
  rank = static_cast<unsigned>(number(m.at + 1, 1));
  set.count = version == 2 && number(m.at + 3, 1) == 2 ? 0 : 1;
  for (unsigned k = 0; k < rank; ++k) {
    const std::uint64_t size = number(m.at + (version == 1 ? 8 : 4) + 8 * k, 8);
    if (size > most_hdf5_numbers || (set.count *= size) > most_hdf5_numbers) refuse(name, "has an impossible size");
  }
}

// IV.A.2.d
void Hdf5File::read_type(const Message& m, const std::string& name, DataSet& set) const {
  const std::uint64_t family = number(m.at, 1) & 15, bits = number(m.at + 1, 3), width = number(m.at + 4, 4);
  const bool whole = number(m.at + 8, 2) == 0 && number(m.at + 10, 2) == 8 * width;  // no bits to spare
  const bool real = family == 1 && (width == 4 || width == 8) && (bits & 0x41) == 0;
  const bool integer = family == 0 && (width == 1 || width == 2 || width == 4 || width == 8) && (bits & 1) == 0;
  if (!whole || !(real || integer)) refuse(name, "is not made of little-endian float64, float32 or integers");
  if (real && number(m.at + 13, 1) != (width == 8 ? 11u : 8u)) refuse(name, "is not made of IEEE's numbers");
  set.width = static_cast<unsigned>(width);
  set.real = real;
  set.negative = integer && (bits & 8);
}

// IV.A.2.i
void Hdf5File::read_layout(const Message& m, const std::string& name, DataSet& set, unsigned rank) const {
  const std::uint64_t version = number(m.at, 1), way = number(m.at + 1, 1);
  if (version != 3 && (version != 4 || way > 1))
    refuse(name, "is laid out in a way that is not read: write it with libver = 'earliest'");
  switch (way) {
    case 0:
      set.stored = number(m.at + 2, 2);
      set.at = m.at + 4;
      return;
    case 1:
      set.at = number(m.at + 2, 8);
      set.stored = set.at == nowhere ? 0 : number(m.at + 10, 8);
      return;
    case 2:
      set.chunked = true;
      set.at = number(m.at + 3, 8);
      if (number(m.at + 2, 1) != 2 || rank != 1) refuse(name, "has chunks along several dimensions: not read");
      set.chunk = number(m.at + 11, 4);
      if (set.chunk == 0 || number(m.at + 15, 4) != set.width) broken(m.at);
      if (set.at == nowhere) return;
      {
        std::uint64_t left = file_.size() / 8;
        walk(set.at, 1, 256, 24, left, [&](std::uint64_t key, std::uint64_t) { set.stored += number(key, 4); });
      }
      return;
    default:
      refuse(name, "lies in other files, or is laid out in a way that is not read");
  }
}

// IV.A.2.l
void Hdf5File::read_filters(const Message& m, const std::string& name, DataSet& set) const {
  const std::uint64_t version = number(m.at, 1), count = number(m.at + 1, 1);
  if (count == 0) return;
  if (count != 1 || number(m.at + (version == 1 ? 8 : 2), 2) != 1 || !set.chunked)
    refuse(name, "is packed in a way that is not read: by deflate alone, along one dimension, is");
  set.deflated = true;
}

std::string Hdf5File::bytes_of(const std::string& name, const DataSet& set) const {
  if (set.count == 0) return {};
  if (set.chunked) return chunks_of(name, set);
  const std::uint64_t size = set.count * set.width;
  if (set.at > file_.size() || size > file_.size() - set.at) broken(set.at);
  return file_.substr(set.at, size);
}

std::string Hdf5File::chunks_of(const std::string& name, const DataSet& set) const {
  const std::uint64_t size = set.chunk * set.width, count = (set.count + set.chunk - 1) / set.chunk;
  const std::uint64_t room = set.stored * (set.deflated ? most_unpacked : 1);
  if (size > room || count > room / size)
    refuse(name, "claims chunks of " + std::to_string(set.chunk) + " numbers, more than it stores");
  std::string out(count * size, '\0');
  std::vector<bool> seen(count, false);
  std::uint64_t left = file_.size() / 8;
  walk(set.at, 1, 256, 24, left, [&](std::uint64_t key, std::uint64_t at) {
    const std::uint64_t stored = number(key, 4), mask = number(key + 4, 4), first = number(key + 8, 8);
    const std::uint64_t k = first / set.chunk;
    if (first % set.chunk != 0 || k >= count || seen[k]) refuse(name, "has a chunk where there is none");
    if (at > file_.size() || stored > file_.size() - at) broken(at);
    seen[k] = true;
    uLongf got = size;
    auto* to = reinterpret_cast<unsigned char*>(out.data() + k * size);
    const auto* from = reinterpret_cast<const unsigned char*>(file_.data() + at);
    const bool packed = set.deflated && !(mask & 1);
    if (packed ? uncompress(to, &got, from, stored) != Z_OK || got != size : stored != size)
      refuse(name, "has a chunk that does not unpack to its size");
    if (!packed) std::copy(from, from + size, to);
  });
  if (std::find(seen.begin(), seen.end(), false) != seen.end()) refuse(name, "has a chunk that is not stored");
  return out;
}

std::uint64_t Hdf5File::stored(const std::string& name) const { return data_set(name).stored; }

std::vector<double> Hdf5File::numbers(const std::string& name) const {
  const DataSet set = data_set(name);
  if (!set.real) {
    const std::vector<int> whole = integers(name);
    return {whole.begin(), whole.end()};
  }
  const std::string bytes = bytes_of(name, set);
  std::vector<double> x(set.count);
  for (std::uint64_t i = 0; i < set.count; ++i) {
    std::uint64_t bits = 0;
    for (unsigned k = set.width; k-- > 0;) bits = bits << 8 | static_cast<unsigned char>(bytes[i * set.width + k]);
    x[i] = set.width == 8 ? std::bit_cast<double>(bits)
                          : static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  }
  return x;
}

std::vector<int> Hdf5File::integers(const std::string& name) const {
  const DataSet set = data_set(name);
  if (set.real) refuse(name, "must be made of whole numbers");
  const std::string bytes = bytes_of(name, set);
  std::vector<int> x(set.count);
  for (std::uint64_t i = 0; i < set.count; ++i) {
    std::uint64_t bits = 0;
    for (unsigned k = set.width; k-- > 0;) bits = bits << 8 | static_cast<unsigned char>(bytes[i * set.width + k]);
    const unsigned unused = 64 - 8 * set.width;
    const bool below = set.negative && bits >> (8 * set.width - 1);
    const auto value = static_cast<std::int64_t>(below ? bits << unused : bits);
    const std::int64_t number = below ? value >> unused : value;
    if (number < std::numeric_limits<int>::min() || number > std::numeric_limits<int>::max())
      refuse(name, "has a number beyond 2^31");
    x[i] = static_cast<int>(number);
  }
  return x;
}

int Hdf5File::integer(const std::string& name) const {
  const std::vector<int> x = integers(name);
  if (x.size() != 1) refuse(name, "has " + std::to_string(x.size()) + " numbers; must be one");
  return x[0];
}

}  // namespace tribo
