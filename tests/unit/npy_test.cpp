#include "io/npy.hpp"

#include <doctest/doctest.h>
#include <zlib.h>

#include <cstring>
#include <limits>

#include "scratch_folder.hpp"

using namespace tribo;

namespace {

std::string npy(const std::string& dictionary, const std::string& data) {
  std::string header = dictionary + "\n";
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes.push_back(static_cast<char>(header.size() & 0xff));
  bytes.push_back(static_cast<char>(header.size() >> 8));
  return bytes + header + data;
}

template <class T>
std::string bytes_of(std::initializer_list<T> values) {
  std::string bytes;
  for (T x : values) bytes.append(reinterpret_cast<const char*>(&x), sizeof x);
  return bytes;
}

std::string parse_refusal(const std::string& text) {
  return refusal([&] { parse_npy(std::vector<char>(text.begin(), text.end()), "owner"); });
}

void put(std::string& s, std::uint64_t x, int bytes) {
  for (int i = 0; i < bytes; ++i) s.push_back(i < 8 ? static_cast<char>(x >> (8 * i)) : '\0');
}

/// A zip of one entry, as another program would write it; sizes and method as told.
std::string zip(const std::string& name, const std::string& packed, int method, std::uint32_t crc, std::uint32_t size) {
  std::string s;
  const auto common = [&](std::string& t) {
    put(t, static_cast<std::uint64_t>(method), 2);
    put(t, 0, 4);
    put(t, crc, 4);
    put(t, packed.size(), 4);
    put(t, size, 4);
    put(t, name.size(), 2);
  };
  put(s, 0x04034b50, 4);
  put(s, 20, 2);
  put(s, 0, 2);
  common(s);
  put(s, 0, 2);
  s += name + packed;
  const std::size_t start = s.size();
  put(s, 0x02014b50, 4);
  put(s, 20, 2);
  put(s, 20, 2);
  put(s, 0, 2);
  common(s);
  put(s, 0, 2 + 2 + 2 + 2 + 4 + 4);
  s += name;
  const std::size_t length = s.size() - start;
  put(s, 0x06054b50, 4);
  put(s, 0, 4);
  put(s, 1, 2);
  put(s, 1, 2);
  put(s, length, 4);
  put(s, start, 4);
  put(s, 0, 2);
  return s;
}

std::string deflated(const std::string& text) {
  z_stream stream{};
  deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  std::string packed(text.size() + 100, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

std::uint32_t crc(const std::string& s) {
  return static_cast<std::uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(s.data()), static_cast<uInt>(s.size())));
}

}  // namespace

TEST_CASE("npy header: a multiple of 64 bytes, whose length does not depend on the count") {
  for (const std::vector<std::uint64_t>& row : std::vector<std::vector<std::uint64_t>>{{}, {3}, {7, 12345678}}) {
    std::vector<std::uint64_t> shape = row;
    shape.insert(shape.begin(), 0);
    const std::string none = npy_header(NpyType::F64, shape);
    shape[0] = std::numeric_limits<std::uint64_t>::max();
    const std::string most = npy_header(NpyType::F64, shape);
    CHECK(none.size() % 64 == 0);
    CHECK(none.size() == most.size());
    CHECK(most.find("18446744073709551615") != std::string::npos);
  }
}

TEST_CASE("npy writer: what was flushed is readable while more is buffered, in rows as given") {
  ScratchFolder folder;
  const std::string path = folder.file("x.npy");
  NpyWriter writer(path, NpyType::F64, {3});
  CHECK(NpzReader(path).read("").shape == std::vector<std::uint64_t>{0, 3});
  const double rows[6] = {1, 2, 3, 4, 5, 6};
  writer.append(rows, 2);
  writer.flush();
  writer.append(rows, 1);
  const NpyArray array = NpzReader(path).read("");
  CHECK(array.shape == std::vector<std::uint64_t>{2, 3});
  CHECK(array.numbers() == std::vector<double>{1, 2, 3, 4, 5, 6});

  // Past the buffer: the count in the header stays that of the last flush, then catches up.
  std::vector<double> big(3 * 20000);
  for (std::size_t i = 0; i < big.size(); ++i) big[i] = static_cast<double>(i);
  writer.append(big.data(), 20000);
  CHECK(NpzReader(path).read("").shape[0] == 2);
  writer.append(rows, 1);
  writer.flush();
  const std::vector<double> all = NpzReader(path).read("").numbers();
  REQUIRE(all.size() == 3u * 20004);
  CHECK(all[6] == 1);
  CHECK(all[9 + 3 * 19999] == 3.0 * 19999);
  CHECK(all.back() == 3);
}

TEST_CASE("npz: every type and shape comes back as it was written") {
  ScratchFolder folder;
  const std::string path = folder.file("a.npz");
  const double f[6] = {-1.5, 0, 1e300, 4, 5, std::numeric_limits<double>::infinity()};
  const std::int64_t i[2] = {-7, 1ll << 52};
  const std::uint8_t u[3] = {0, 7, 255};
  const std::uint64_t fs[] = {1, 2, 3}, is[] = {2}, us[] = {3};
  NpzWriter writer(path);
  writer.add("f", NpyType::F64, fs, f);
  writer.add("i", NpyType::I64, is, i);
  writer.add("u", NpyType::U8, us, u);
  writer.add("scalar", NpyType::F64, {}, f);
  CHECK_FALSE(std::filesystem::exists(path));
  writer.finish();
  const NpzReader reader(path);
  CHECK(reader.names() == std::vector<std::string>{"f", "i", "u", "scalar"});
  CHECK(reader.read("f").shape == std::vector<std::uint64_t>{1, 2, 3});
  CHECK(reader.read("f").numbers() == std::vector<double>(f, f + 6));
  CHECK(reader.read("i").numbers() == std::vector<double>{-7, 4503599627370496.0});
  CHECK(reader.read("u").numbers() == std::vector<double>{0, 7, 255});
  CHECK(reader.read("scalar").numbers() == std::vector<double>{-1.5});
  CHECK(refusal([&] { reader.read("f").finite_numbers(); }).find("array 'f': element 5 is inf") != std::string::npos);
  CHECK(refusal([&] { reader.read("g"); }).find("unknown array 'g'") != std::string::npos);
}

TEST_CASE("npz: the 64-bit fields of zip64, mixed with short ones") {
  ScratchFolder folder;
  const std::vector<double> small{1, 2}, large(100, 3.5);
  const std::uint64_t two[] = {2}, hundred[] = {100};
  NpzWriter writer(folder.file("w.npz"), 500);
  writer.add("small", NpyType::F64, two, small.data());      // short size, short offset
  writer.add("large", NpyType::F64, hundred, large.data());  // wide size, short offset
  writer.add("after", NpyType::F64, two, small.data());      // short size, wide offset
  writer.finish();
  const std::string bytes = folder.read("w.npz");
  CHECK(bytes.find("PK\x06\x06") != std::string::npos);
  const NpzReader reader(folder.file("w.npz"));
  CHECK(reader.read("small").numbers() == small);
  CHECK(reader.read("large").numbers() == large);
  CHECK(reader.read("after").numbers() == small);
}

TEST_CASE("npz reader: deflated entries, Fortran order, small types") {
  ScratchFolder folder;
  // Fortran order of [[1, 2, 3], [4, 5, 6]] stands by columns in the file.
  const std::string array =
      npy("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }", bytes_of<float>({1, 4, 2, 5, 3, 6}));
  const std::string path =
      folder.write("d.npz", zip("G.npy", deflated(array), 8, crc(array), static_cast<std::uint32_t>(array.size())));
  CHECK(NpzReader(path).read("G").numbers() == std::vector<double>{1, 2, 3, 4, 5, 6});
  const std::string i2 =
      npy("{'descr': '<i2', 'fortran_order': False, 'shape': (2,), }", bytes_of<std::int16_t>({-3, 9}));
  CHECK(parse_npy({i2.begin(), i2.end()}, "x").numbers() == std::vector<double>{-3, 9});
  const std::string cube = npy("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 1, 2)}", "\x01\x02\x03\x04");
  CHECK(parse_npy({cube.begin(), cube.end()}, "x").numbers() == std::vector<double>{1, 3, 2, 4});
}

TEST_CASE("npy reader refuses what it cannot trust, and says why") {
  const auto has = [](const std::string& text, const std::string& part) {
    INFO(text);
    CHECK(text.find(part) != std::string::npos);
  };
  const std::string eight(8, '\0');
  has(parse_refusal("NUMPY"), "not a .npy");
  has(parse_refusal(npy("{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }", eight)), "needs more than the 8");
  // 2^32 x 2^32 x 8 overflows 64 bits to 0.
  has(parse_refusal(npy("{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296), }", eight)),
      "needs more");
  has(parse_refusal(npy("{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999,), }", eight)),
      "shape");
  has(parse_refusal(npy("{'descr': '<f8', 'fortran_order': False, 'shape': (-1,), }", eight)), "shape");
  has(parse_refusal(npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1, 1, 1, 1), }", eight)), "3 dimensions");
  has(parse_refusal(npy("{'descr': '>f8', 'fortran_order': False, 'shape': (1,), }", eight)), "'>f8'");
  has(parse_refusal(npy("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", eight)), "'|O'");
  has(parse_refusal(npy("{'descr': '<f8', 'fortran_order': Maybe, 'shape': (1,), }", eight)), "fortran_order");
  has(parse_refusal(npy("{'descr': '<f8', 'shape': (1,), }", eight)), "fortran_order");
  has(parse_refusal(npy("{'descr': '<f8", eight)), "descr");
  has(parse_refusal(std::string("\x93NUMPY\x01\x00\xff\xff", 10)), "truncated");
  has(parse_refusal(std::string("\x93NUMPY\x09\x00\x01\x00 ", 11)), "version");
}

TEST_CASE("npz reader refuses broken archives, and says which array") {
  ScratchFolder folder;
  const std::string array = npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }", std::string(8, '\1'));
  const auto size = static_cast<std::uint32_t>(array.size());
  const auto read = [&](const std::string& bytes) {
    const std::string path = folder.write("x.npz", bytes);
    return refusal([&] { NpzReader(path).read("g"); });
  };
  CHECK(read(zip("g.npy", array, 0, crc(array), size)) == "");
  CHECK(read(zip("g.npy", array, 0, crc(array) ^ 1, size)).find("array 'g': is damaged") != std::string::npos);
  CHECK(read(zip("g.npy", array, 0, crc(array), size + 1)).find("two different sizes") != std::string::npos);
  CHECK(read(zip("g.npy", array, 12, crc(array), size)).find("method 12") != std::string::npos);
  CHECK(read(zip("g.npy", deflated(array), 8, crc(array), 0xfffffff0u)).find("array 'g'") != std::string::npos);
  CHECK(read(zip("g.npy", deflated(array), 8, crc(array), size - 1)).find("does not unpack") != std::string::npos);
  CHECK(read(zip("g.npy", "garbage", 8, crc(array), size)).find("does not unpack") != std::string::npos);
  const std::string good = zip("g.npy", array, 0, crc(array), size);
  // Every truncation, and every flipped byte, is refused or read as it was: never a crash, never a wrong number.
  for (std::size_t n = 0; n < good.size(); ++n) CHECK(read(good.substr(0, n)) != "");
  for (std::size_t n = 0; n < good.size(); ++n) {
    std::string bad = good;
    bad[n] = static_cast<char>(bad[n] ^ 0x41);
    const std::string path = folder.write("y.npz", bad);
    std::vector<char> bytes(8, '\1');
    refusal([&] { bytes = NpzReader(path).read("g").bytes; });
    CHECK(bytes == std::vector<char>(8, '\1'));
  }
  CHECK(refusal([&] { NpzReader(folder.file("none.npz")); }).find("cannot be read") != std::string::npos);
  CHECK(refusal([&] { NpzReader(folder.path.string()); }).find("not a regular file") != std::string::npos);
}
