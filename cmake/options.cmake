# Compiler settings of every target, and the flags that must not come from outside.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
set(TRIBO_SANITIZE "" CACHE STRING "Sanitizers to build with, for instance address,undefined")
option(TRIBO_WERROR "Warnings are errors" OFF)

# The wheels of Pinocchio and Coal are built for the base x86-64 ABI: wider vectors change Eigen's alignment and its
# allocator, and the program crashes at the first model.
string(REGEX MATCH "-m(arch=(native|x86-64-v[34]|[a-z]*lake[a-z0-9-]*|haswell|znver[0-9])|avx[a-z0-9]*)" TRIBO_BAD_FLAG "${CMAKE_CXX_FLAGS}")
if(TRIBO_BAD_FLAG AND NOT CMAKE_CXX_FLAGS MATCHES "EIGEN_MALLOC_ALREADY_ALIGNED=1")
  message(FATAL_ERROR
    "CXXFLAGS contain '${TRIBO_BAD_FLAG}', which changes the memory layout that the wheels of Pinocchio and Coal were built "
    "with: the program would crash at the first model. Remove the flag, or use all three of "
    "'-march=x86-64-v3 -DEIGEN_MAX_ALIGN_BYTES=16 -DEIGEN_MALLOC_ALREADY_ALIGNED=1'.")
endif()

if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # The compiler collects its own garbage less often: a twelfth less time, for some hundred megabytes more.
  add_compile_options(--param=ggc-min-heapsize=1000000 --param=ggc-min-expand=200)
endif()

find_program(TRIBO_CCACHE ccache)
if(TRIBO_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${TRIBO_CCACHE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-fpch-preprocess)  # without it ccache does not keep units that use a precompiled header
  endif()
endif()

# What nearly every unit includes is compiled once: half the time of a build from nothing. A cached build that is shared
# between folders finds more without.
option(TRIBO_PCH "Precompile the headers that nearly every unit includes" ON)
function(tribo_precompile target)  # and more headers, as <a/b.hpp>; or REUSE_FROM a target with the same flags
  if(TRIBO_PCH AND "${ARGV1}" STREQUAL "REUSE_FROM")
    target_precompile_headers(${target} REUSE_FROM ${ARGV2})
  elseif(TRIBO_PCH)
    target_precompile_headers(${target} PRIVATE <algorithm> <array> <cmath> <cstdint> <functional> <limits> <map> <memory>
                              <numeric> <optional> <span> <string> <vector> <Eigen/Dense> ${ARGN})
  endif()
endfunction()

# Code that runs once a run is not worth -O3, which takes longer to compile: -O1 for targets, or for the sources of folders of the
# top level, or for sources. The bits of a result are the same: without -ffast-math no level reorders sums, and Eigen's vectors are intrinsics.
function(tribo_compile_quickly)
  cmake_parse_arguments(it "" "" "TARGETS;DIRECTORIES;SOURCES" ${ARGN})
  if(NOT CMAKE_BUILD_TYPE STREQUAL "Release")
    return()
  endif()
  foreach(target ${it_TARGETS})
    target_compile_options(${target} PRIVATE -O1)
  endforeach()
  foreach(directory ${it_DIRECTORIES})
    file(GLOB_RECURSE sources ${PROJECT_SOURCE_DIR}/${directory}/*.cpp)
    set_source_files_properties(${sources} PROPERTIES COMPILE_OPTIONS -O1)
  endforeach()
  foreach(source ${it_SOURCES})
    set_source_files_properties(${PROJECT_SOURCE_DIR}/${source} PROPERTIES COMPILE_OPTIONS -O1)
  endforeach()
endfunction()

# Files of a folder are compiled some at a time: what their headers make is made once, and a build from nothing takes less
# time. Names in the anonymous namespaces of a folder differ, therefore. Every file still stands alone: clang++ (make test-clang)
# compiles them one by one. Alone are files with definitions of their own, and kernels for several instruction sets: what is
# inlined into these is compiled with fused multiply-adds, and the last bit of a motion must not depend on neighbours.
option(TRIBO_BATCHES "Compile the files of a folder together" ON)
function(tribo_compile_in_batches target)  # folders of the top level; call it last
  if(NOT TRIBO_BATCHES)
    return()
  endif()
  get_target_property(all ${target} SOURCES)
  get_target_property(base ${target} SOURCE_DIR)
  foreach(directory ${ARGN})
    string(REPLACE "/" "_" room ${directory})
    set(kinds "")  # by the options of their own
    foreach(source ${all})
      get_filename_component(path ${source} ABSOLUTE BASE_DIR ${base})
      file(RELATIVE_PATH name ${PROJECT_SOURCE_DIR} ${path})
      if(NOT name MATCHES "^${directory}/[^/]*[.]cpp$")
        continue()
      endif()
      get_source_file_property(definitions ${source} COMPILE_DEFINITIONS)
      file(STRINGS ${path} kernels REGEX "TRIBO_(CLONES|WIDE|AVX2)" LIMIT_COUNT 1)
      if(NOT definitions AND NOT kernels)
        get_source_file_property(options ${source} COMPILE_OPTIONS)
        if(NOT options)
          set(options "")
        endif()
        string(MAKE_C_IDENTIFIER "${room}${options}" kind)
        list(APPEND kinds ${kind})
        list(APPEND ${kind} ${name})
        set(options_${kind} "${options}")
        set_source_files_properties(${source} PROPERTIES HEADER_FILE_ONLY ON)
      endif()
    endforeach()
    list(REMOVE_DUPLICATES kinds)
    foreach(kind ${kinds})
      tribo_add_batches(${target} ${kind} "${options_${kind}}" ${${kind}})
    endforeach()
  endforeach()
endfunction()

function(tribo_add_batches target name options)  # and the files, about ten to a batch
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")  # it takes what a batch includes for headers
    list(APPEND options -Wno-subobject-linkage)
  endif()
  list(LENGTH ARGN count)
  math(EXPR batches "(${count} + 9) / 10")
  math(EXPR each "(${count} + ${batches} - 1) / ${batches}")
  foreach(batch RANGE 1 ${batches})
    math(EXPR first "(${batch} - 1) * ${each}")
    list(SUBLIST ARGN ${first} ${each} some)
    list(TRANSFORM some REPLACE "(.+)" "#include \"\\1\"\n" OUTPUT_VARIABLE text)
    list(JOIN text "" text)
    set(file ${PROJECT_BINARY_DIR}/batches/${name}_${batch}.cpp)
    file(CONFIGURE OUTPUT ${file} CONTENT "${text}" @ONLY)
    target_sources(${target} PRIVATE ${file})
    set_source_files_properties(${file} PROPERTIES COMPILE_OPTIONS "${options}" INCLUDE_DIRECTORIES ${PROJECT_SOURCE_DIR})
  endforeach()
endfunction()

add_library(tribo_options INTERFACE)
target_compile_options(tribo_options INTERFACE -Wall -Wextra $<$<BOOL:${TRIBO_WERROR}>:-Werror>)
# Tests of boxes and the like have no branches, on purpose.
target_compile_options(tribo_options INTERFACE $<$<CXX_COMPILER_ID:Clang>:-Wno-bitwise-instead-of-logical>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # False on "text" + std::string (GCC bug 105651), in one of these three ways by the level of optimisation.
  target_compile_options(tribo_options INTERFACE -Wno-restrict -Wno-stringop-overflow -Wno-array-bounds)
endif()
if(TRIBO_SANITIZE)
  target_compile_options(tribo_options INTERFACE -fsanitize=${TRIBO_SANITIZE} -fno-omit-frame-pointer -O1 -g1)  # lines alone: half the time of -g
  target_link_options(tribo_options INTERFACE -fsanitize=${TRIBO_SANITIZE})
  # Under g++'s address sanitizer Eigen takes an allocator of its own, and what the wheels allocated is then freed by it.
  target_compile_definitions(tribo_options INTERFACE $<$<CXX_COMPILER_ID:GNU>:EIGEN_MALLOC_ALREADY_ALIGNED=1>)
endif()
