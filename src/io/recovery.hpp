// Recordings of runs that were killed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace tribo {

/// Packs the records that are whole in every array of a recording.partial into an .npz, and removes the folder; where
/// there is none, nothing is written. Returns their number. InvalidInput, with nothing removed, where the folder holds
/// no recording or the disk is full.
std::uint64_t pack_partial(const std::string& partial, const std::string& npz);
/// The same, as recording.N.npz of a folder, with the first N that is free. Returns its path; "" where there was no record.
std::string pack_aside(const std::string& partial, const std::string& folder);

/// Removes a recording.partial that is packed, under another name: killed meanwhile, what is left of it is no recording.
void discard_partial(const std::string& partial);
/// What is left of it.
void remove_packed(const std::filesystem::path& folder);

struct RecoveredRecording {
  std::string from, to;       ///< `to` is empty where nothing was recorded
  std::uint64_t records = 0;  ///< steps
};
/// Packs every recording.partial of a folder that nobody writes to: as recording.npz, or recording.N.npz where that is
/// taken. InvalidInput where it is no folder, or another writes to it.
std::vector<RecoveredRecording> recover_recordings(const std::string& folder);

}  // namespace tribo
