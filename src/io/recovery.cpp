// What killed runs left: the rows that are whole in every array, packed as a finished run would have packed them.
#include <algorithm>
#include <filesystem>
#include <map>

#include "base/folder_lock.hpp"
#include "io/npy.hpp"
#include "io/recovery.hpp"

namespace tribo {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t least_header = 128;  // of the arrays that a recorder writes [bytes]
const char* const packed = "recording.packed";

struct Array {
  File file;
  NpyLayout layout;
};

std::map<std::string, Array> arrays_of(const std::string& partial) {
  std::map<std::string, Array> arrays;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(partial, error)) {
    if (entry.path().extension() != ".npy") throw InvalidInput(entry.path().string() + ": is no array of a recording");
    File file(entry.path().string(), File::Mode::Read);
    if (file.size() < least_header) continue;  // killed before its header was written, or on a full disk
    NpyLayout layout = npy_layout(file);
    arrays.emplace(entry.path().stem().string(), Array{std::move(file), std::move(layout)});
  }
  return arrays;
}

bool of_contacts(const std::string& name) { return name.starts_with("contact_") && name != "contact_start"; }

/// Contacts before record n.
std::uint64_t contacts_before(const Array& start, std::uint64_t n) {
  std::int64_t value = 0;
  start.file.read_at(start.layout.data + n * sizeof value, &value, sizeof value);
  return value < 0 ? 0 : static_cast<std::uint64_t>(value);
}

/// Numbers of records and of contacts that every array holds. Arrays are flushed contacts first and time last.
std::pair<std::uint64_t, std::uint64_t> whole_rows(const std::map<std::string, Array>& arrays) {
  for (const char* name : {"meta", "time", "contact_start"})
    if (!arrays.count(name)) return {0, 0};  // time is the last to be made
  const Array& start = arrays.at("contact_start");
  if (start.layout.type != NpyType::I64 || start.layout.rows == 0) return {0, 0};
  std::uint64_t records = start.layout.rows - 1, contacts = UINT64_MAX;
  for (const auto& [name, array] : arrays) {
    if (name == "meta" || name == "contact_start") continue;
    std::uint64_t& least = of_contacts(name) ? contacts : records;
    least = std::min(least, array.layout.rows);
  }
  while (records > 0 && contacts_before(start, records) > contacts) --records;
  return {records, contacts_before(start, records)};
}

fs::path free_name(const fs::path& folder) {
  std::error_code error;
  fs::path name = folder / "recording.npz";
  for (int i = 1; fs::exists(fs::symlink_status(name, error)); ++i)
    name = folder / ("recording." + std::to_string(i) + ".npz");
  return name;
}

}  // namespace

std::uint64_t pack_partial(const std::string& partial, const std::string& npz) {
  const std::map<std::string, Array> arrays = arrays_of(partial);
  const auto [records, contacts] = whole_rows(arrays);
  if (records > 0) {
    NpzWriter archive(npz);
    for (const auto& [name, array] : arrays) {
      const std::uint64_t rows = name == "meta"            ? array.layout.rows
                                 : name == "contact_start" ? records + 1
                                 : of_contacts(name)       ? contacts
                                                           : records;
      archive.add_rows(name, array.file, array.layout, rows);
    }
    archive.finish();
  }
  discard_partial(partial);
  return records;
}

void discard_partial(const std::string& partial) {
  std::error_code error;
  const fs::path folder = fs::path(partial).parent_path();
  remove_packed(folder);
  fs::rename(partial, folder / packed, error);
  remove_packed(folder);
}

void remove_packed(const fs::path& folder) {
  std::error_code error;
  fs::remove_all(folder / packed, error);
}

std::string pack_aside(const std::string& partial, const std::string& folder) {
  std::error_code error;
  fs::path name;
  for (int i = 1; name.empty() || fs::exists(fs::symlink_status(name, error)); ++i)
    name = fs::path(folder) / ("recording." + std::to_string(i) + ".npz");
  return pack_partial(partial, name.string()) > 0 ? name.string() : "";
}

std::vector<RecoveredRecording> recover_recordings(const std::string& folder) {
  std::error_code error;
  if (!fs::is_directory(folder, error)) throw InvalidInput(folder + ": is not a folder");
  const FolderLock lock(folder);
  remove_packed(folder);
  std::vector<std::string> left;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error))
    if (entry.is_directory(error) && entry.path().filename().string().starts_with("recording.partial"))
      left.push_back(entry.path().string());
  std::sort(left.begin(), left.end());
  std::vector<RecoveredRecording> found;
  for (const std::string& partial : left) {
    const std::string to = free_name(folder).string();
    const std::uint64_t records = pack_partial(partial, to);
    found.push_back({partial, records > 0 ? to : "", records});
  }
  return found;
}

}  // namespace tribo
