// Text of files that anybody may have written, as it may go to a terminal.
#pragma once

#include <string>

namespace tribo {

/// The text with \xNN for what a terminal obeys (all control characters but new lines and tabs) and for what is not UTF-8.
std::string legible(const std::string& text);
/// InvalidInput where a name has such characters, or more than 500 bytes. `what` has it: "link", "body".
void check_name(const std::string& what, const std::string& name);

}  // namespace tribo
