# What `cmake --install` puts where: headers, library and package files for find_package(tribo), the command, the scenes.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(TRIBO_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/tribo)

set_target_properties(tribo_core PROPERTIES EXPORT_NAME tribo OUTPUT_NAME tribo)
set_target_properties(tribo_options PROPERTIES EXPORT_NAME options)
install(TARGETS tribo_core tribo_options EXPORT tribo_targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT tribo_targets NAMESPACE tribo:: DESTINATION ${TRIBO_PACKAGE_DIR})
install(DIRECTORY include/tribo DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp")
if(TARGET tribo)
  # The libraries of the wheels are found where they were when it was built.
  set_target_properties(tribo tribo-experiment PROPERTIES INSTALL_RPATH "$<TARGET_FILE_DIR:coal::coal>;${TRIBO_MUJOCO}")
  install(TARGETS tribo tribo-experiment RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
if(EXISTS ${PROJECT_SOURCE_DIR}/scenes)
  install(DIRECTORY scenes/ DESTINATION ${CMAKE_INSTALL_DATADIR}/tribo/scenes)
endif()

configure_package_config_file(cmake/triboConfig.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/triboConfig.cmake
                              INSTALL_DESTINATION ${TRIBO_PACKAGE_DIR})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/triboConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/triboConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/triboConfigVersion.cmake
        DESTINATION ${TRIBO_PACKAGE_DIR})
