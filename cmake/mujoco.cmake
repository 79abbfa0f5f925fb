# TRIBO_MUJOCO is the folder `mujoco` of the wheel mujoco-core: headers and library. It lies beside the prefix of Pinocchio.
get_filename_component(site_packages "${TRIBO_PREFIX}/.." ABSOLUTE)
set(TRIBO_MUJOCO "${site_packages}/mujoco" CACHE PATH "Folder of MuJoCo's headers and library")
file(GLOB TRIBO_MUJOCO_LIBRARY ${TRIBO_MUJOCO}/libmujoco.so.*)
if(NOT TRIBO_MUJOCO_LIBRARY AND (TRIBO_MJCF OR TRIBO_BENCH))
  message(FATAL_ERROR "TRIBO_MJCF and TRIBO_BENCH need TRIBO_MUJOCO, a folder with include/mujoco and libmujoco.so.*; got "
                      "'${TRIBO_MUJOCO}'. To do without MJCF files: -DTRIBO_MJCF=OFF")
endif()
