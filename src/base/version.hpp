// The version of the library, which the build knows.
#pragma once

namespace tribo {

const char* version();

}  // namespace tribo
