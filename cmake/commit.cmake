# Writes the commit of the source tree, or "unknown", to a header that is touched only where it changed.
execute_process(COMMAND git -C ${SOURCE} describe --always --dirty --exclude * OUTPUT_VARIABLE commit ERROR_QUIET
                OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE failed)
if(failed)
  set(commit "unknown")
endif()
set(text "#pragma once\nconstexpr char tribo_commit[] = \"${commit}\";\n")
if(EXISTS ${OUT})
  file(READ ${OUT} old)
endif()
if(NOT "${old}" STREQUAL "${text}")
  file(WRITE ${OUT} "${text}")
endif()
