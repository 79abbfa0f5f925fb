# The Python extension tribo._core. Beside the sources of the package it makes ${TRIBO_PYTHON_STAGE}/tribo, which can be
# imported from there; `pip install .` installs it (see wheel.cmake). One extension serves every Python from 3.12 on.
if(NOT SKBUILD)
  set(Python_EXECUTABLE ${TRIBO_PYTHON})
  find_package(Python 3.10 REQUIRED COMPONENTS Interpreter Development.Module)
endif()
execute_process(COMMAND ${Python_EXECUTABLE} -m nanobind --cmake_dir OUTPUT_STRIP_TRAILING_WHITESPACE
                OUTPUT_VARIABLE nanobind_DIR RESULT_VARIABLE TRIBO_NO_NANOBIND)
if(TRIBO_NO_NANOBIND)
  message(FATAL_ERROR "TRIBO_PYTHON_MODULE needs nanobind in ${Python_EXECUTABLE}: pip install nanobind==3.1.0")
endif()
find_package(nanobind CONFIG REQUIRED)

set(TRIBO_PYTHON_STAGE ${PROJECT_BINARY_DIR}/python)
file(GLOB TRIBO_BINDINGS CONFIGURE_DEPENDS python/bindings/*.cpp)
nanobind_add_module(tribo_python NB_STATIC STABLE_ABI NOMINSIZE ${TRIBO_BINDINGS})
target_link_libraries(tribo_python PRIVATE tribo_core tribo_options)
target_include_directories(tribo_python PRIVATE src)
set_target_properties(tribo_python PROPERTIES OUTPUT_NAME _core LIBRARY_OUTPUT_DIRECTORY ${TRIBO_PYTHON_STAGE}/tribo)
nanobind_add_stub(tribo_stubs INCLUDE_PRIVATE MODULE _core OUTPUT ${TRIBO_PYTHON_STAGE}/tribo/_core.pyi
                  PYTHON_PATH ${TRIBO_PYTHON_STAGE}/tribo DEPENDS tribo_python)

if(NOT SKBUILD)
  file(GLOB TRIBO_PYTHON_SOURCES CONFIGURE_DEPENDS python/tribo/*.py python/tribo/*.md python/tribo/*.css python/tribo/*.js python/tribo/py.typed)
  file(MAKE_DIRECTORY ${TRIBO_PYTHON_STAGE}/tribo)
  foreach(source ${TRIBO_PYTHON_SOURCES})
    get_filename_component(name ${source} NAME)
    file(CREATE_LINK ${source} ${TRIBO_PYTHON_STAGE}/tribo/${name} SYMBOLIC)
  endforeach()
endif()
