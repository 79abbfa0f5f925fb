// The subcommands, one file each.
#pragma once

#include "command_line.hpp"

namespace tribo::app {

void add_run(CommandLine& command, Action& action);
void add_check(CommandLine& command, Action& action);
void add_linearize(CommandLine& command, Action& action);
void add_solve(CommandLine& command, Action& action);
void add_list(CommandLine& command, Action& action);
void add_compare(CommandLine& command, Action& action);
void add_bench(CommandLine& command, Action& action);
void add_matrix(CommandLine& command, Action& action);
void add_sweep(CommandLine& command, Action& action);
void add_train(CommandLine& command, Action& action);
void add_view(CommandLine& command, Action& action);
void add_video(CommandLine& command, Action& action);
void add_recover(CommandLine& command, Action& action);

}  // namespace tribo::app
