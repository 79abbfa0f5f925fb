// HDF5 files that may come from anybody: what contact problems need of the format, and no more.
//
// Groups; rows of whole numbers and of IEEE numbers, little-endian, stored in one piece or in chunks along one dimension,
// which deflate may have packed: the default of libhdf5 and h5py. All else is refused by name, links to elsewhere too. Every
// address and length is checked against the file, and no work exceeds a constant times its size. After [HdfGroup2016], sections in the
// code.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tribo {

class Hdf5File {
 public:
  /// InvalidInput where it is missing, too long, or of another format. So do the others where the file is broken.
  explicit Hdf5File(const std::string& path);

  /// Names are paths from the root: "/group/name".
  bool has(const std::string& name) const;
  std::vector<double> numbers(const std::string& name) const;
  std::vector<int> integers(const std::string& name) const;
  int integer(const std::string& name) const;
  std::uint64_t stored(const std::string& name) const;  ///< bytes that a data set takes in the file

  [[noreturn]] void refuse(const std::string& name, const std::string& why) const;

 private:
  struct Message {
    unsigned type = 0, flags = 0;
    std::uint64_t at = 0, size = 0;
  };
  struct DataSet {
    std::uint64_t count = 0;
    unsigned width = 0;  // of a number [bytes]
    bool real = false, negative = false, deflated = false, chunked = false;
    std::uint64_t at = 0, stored = 0, chunk = 0;  // where the numbers are, or the tree of chunks; numbers of a chunk
  };
  using Visit = std::function<void(std::uint64_t key, std::uint64_t child)>;

  std::uint64_t number(std::uint64_t at, unsigned bytes) const;
  bool signature(std::uint64_t at, const char* letters) const;
  [[noreturn]] void broken(std::uint64_t at) const;
  std::vector<Message> messages(std::uint64_t object) const;
  void block(std::uint64_t at, std::uint64_t end, unsigned version, bool ordered, std::vector<Message>& list,
             std::vector<Message>& more) const;
  std::optional<std::uint64_t> find(const std::string& name) const;
  std::optional<std::uint64_t> child(std::uint64_t group, const std::string& part, const std::string& name) const;
  std::optional<std::uint64_t> in_table(const Message& table, const std::string& part, const std::string& name) const;
  std::optional<std::uint64_t> in_link(const Message& link, const std::string& part, const std::string& name) const;
  void walk(std::uint64_t node, unsigned type, unsigned level, unsigned key, std::uint64_t& left,
            const Visit& leaf) const;
  DataSet data_set(const std::string& name) const;
  void read_space(const Message& m, const std::string& name, DataSet& set, unsigned& rank) const;
  void read_type(const Message& m, const std::string& name, DataSet& set) const;
  void read_layout(const Message& m, const std::string& name, DataSet& set, unsigned rank) const;
  void read_filters(const Message& m, const std::string& name, DataSet& set) const;
  std::string bytes_of(const std::string& name, const DataSet& set) const;
  std::string chunks_of(const std::string& name, const DataSet& set) const;

  std::string path_, file_;
  std::uint64_t root_ = 0;
};

}  // namespace tribo
