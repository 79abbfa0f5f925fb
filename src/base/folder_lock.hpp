// One writer a folder.
#pragma once

#include <string>

namespace tribo {

/// Holds FOLDER/tribo.lock as long as it lives; the file says who does. The system releases it when the holder is
/// killed, so that nothing is left to clean up. InvalidInput names the holder where there is one, in this process or
/// another.
class FolderLock {
 public:
  explicit FolderLock(const std::string& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  std::string path_;
  int fd_ = -1;
};

}  // namespace tribo
