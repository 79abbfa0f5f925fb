// NumPy's .npy and .npz: a writer that streams rows and is valid after every flush, and a reader that trusts nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/file.hpp"
#include "tribo/types.hpp"

namespace tribo {

enum class NpyType { F64, F32, I64, I32, I16, I8, U64, U32, U16, U8 };

std::size_t size_of(NpyType type);

/// Header of a C-ordered array, a multiple of 64 bytes long. The length does not depend on shape[0].
std::string npy_header(NpyType type, std::span<const std::uint64_t> shape);
void npy_header(NpyType type, std::span<const std::uint64_t> shape, std::string& header);

/// What the header of a .npy file says, checked against the size of the file.
struct NpyLayout {
  NpyType type = NpyType::F64;
  std::vector<std::uint64_t> shape;
  std::uint64_t data = 0;  ///< where the numbers begin [bytes]
  std::uint64_t rows = 0;  ///< that are whole: shape[0], or fewer where the file ends before
  std::uint64_t row_bytes() const;
};
/// InvalidInput where it is none, or has no rows by its shape.
NpyLayout npy_layout(const File& file);

/// Appends rows of one shape to a .npy file. The file is valid after every flush.
class NpyWriter {
 public:
  static constexpr std::size_t flush_bytes = 1 << 16;

  /// row: shape of one row, empty for a vector of numbers.
  NpyWriter(const std::string& path, NpyType type, std::vector<std::uint64_t> row);

  void append(const void* data, std::uint64_t rows);
  void append(double x) { append(&x, 1); }
  bool wants_flush() const { return buffer_.size() >= flush_bytes; }
  /// Data first, then the count in the header: whoever reads in between sees the old count.
  void flush();
  std::uint64_t rows() const { return rows_; }

 private:
  File file_;
  NpyType type_;
  std::vector<std::uint64_t> shape_;  ///< shape_[0] is the count on disk
  std::size_t row_bytes_ = 0;
  std::uint64_t rows_ = 0, position_ = 0;
  std::vector<char> buffer_;
  std::string header_;
};

/// A .npz (stored entries, zip64 where it is needed), under a temporary name until finish().
class NpzWriter {
 public:
  /// wide_from: sizes and offsets from here on take the 64-bit fields of zip64; smaller only in tests.
  explicit NpzWriter(const std::string& path, std::uint64_t wide_from = 0xffffffffu)
      : file_(path), wide_from_(wide_from) {}

  void add(const std::string& name, NpyType type, std::span<const std::uint64_t> shape, const void* data);
  /// Copies a .npy file in.
  void add_file(const std::string& name, const std::string& npy);
  /// The first rows of a .npy file.
  void add_rows(const std::string& name, const File& npy, const NpyLayout& layout, std::uint64_t rows);
  void finish();

 private:
  struct Entry {
    std::string name;
    std::uint32_t crc = 0;
    std::uint64_t size = 0, offset = 0;
  };
  void begin(Entry& entry);
  void end(const Entry& entry);
  void copy(const File& source, std::uint64_t at, std::uint64_t end, Entry& entry);

  AtomicFile file_;
  std::uint64_t wide_from_;
  std::vector<Entry> entries_;
};

/// An array as read: C order, whatever the order of the file.
struct NpyArray {
  std::string owner;  ///< "FILE: array 'NAME'", for messages
  NpyType type = NpyType::F64;
  std::vector<std::uint64_t> shape;
  std::vector<char> bytes;

  std::uint64_t size() const;  ///< number of elements
  double number(std::uint64_t i) const;
  std::vector<double> numbers() const;
  /// InvalidInput names the first element that is not finite.
  std::vector<double> finite_numbers() const;
  std::string shape_text() const;
};

/// The arrays of a .npz, read one by one when asked for. A .npy is an archive of one array named "".
class NpzReader {
 public:
  /// most: bytes that one array may take in memory.
  explicit NpzReader(const std::string& path, std::uint64_t most = std::uint64_t{4} << 30);

  const std::vector<std::string>& names() const { return names_; }
  bool has(const std::string& name) const;
  /// InvalidInput for an unknown name, or a broken array.
  NpyArray read(const std::string& name) const;

 private:
  struct Entry {
    int method = 0;
    std::uint32_t crc = 0;
    std::uint64_t packed = 0, size = 0, offset = 0;
  };
  void read_directory();
  void add_entry(const std::string& name, const Entry& entry);

  File file_;
  std::uint64_t file_size_ = 0, most_ = 0;
  bool single_ = false;
  std::vector<std::string> names_;
  std::vector<Entry> entries_;
};

/// Takes apart a .npy in memory. InvalidInput begins with owner.
NpyArray parse_npy(std::vector<char> bytes, const std::string& owner);

}  // namespace tribo
