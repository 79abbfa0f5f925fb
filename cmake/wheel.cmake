# What a wheel holds beside the sources of the package: the extension, the command, the scenes, and in tribo/lib the libraries
# that both link to, so that it depends on NumPy alone.
target_link_options(tribo_python PRIVATE -Wl,--exclude-libs,ALL)  # it shows Python one symbol, and others none
install(TARGETS tribo_python LIBRARY DESTINATION tribo)
install(FILES ${TRIBO_PYTHON_STAGE}/tribo/_core.pyi DESTINATION tribo)
install(DIRECTORY scenes DESTINATION tribo)
install(TARGETS tribo tribo-experiment RUNTIME DESTINATION tribo/bin)
install(PROGRAMS python/command DESTINATION ${SKBUILD_SCRIPTS_DIR} RENAME tribo)
install(CODE "execute_process(COMMAND ${Python_EXECUTABLE} ${PROJECT_SOURCE_DIR}/cmake/bundle.py \${CMAKE_INSTALL_PREFIX}/tribo
                              --from ${TRIBO_PREFIX}/lib ${TRIBO_MUJOCO} COMMAND_ERROR_IS_FATAL ANY)")
# Their licences come from the packages that hold them.
get_filename_component(TRIBO_SITE "${TRIBO_PREFIX}/.." ABSOLUTE)
install(CODE "execute_process(COMMAND ${Python_EXECUTABLE} ${PROJECT_SOURCE_DIR}/scripts/licenses.py \${CMAKE_INSTALL_PREFIX}/tribo/licenses
                              --site ${TRIBO_SITE} COMMAND_ERROR_IS_FATAL ANY)")
