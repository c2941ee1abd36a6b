# What `cmake --install` installs: libraries, headers, the schema compiler, the command, and the CMake package.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME development)  # of all but the commands; each is a Debian package (RondoPackages.cmake)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/rondo)
install(TARGETS rondo_kernels rondo_runtime rondo_actors rondo-schemac EXPORT rondoTargets)
install(FILES ${PROJECT_SOURCE_DIR}/tools/schemac/rondo-schemac.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
# Headers include each other from the root of the tree ("kernels/mail/mailbox.hpp"), so they are installed below such a
# root. Components install the headers that their CMakeLists.txt lists; their other headers are private.
set(header_root ${CMAKE_INSTALL_INCLUDEDIR}/rondo)
foreach(folder kernels runtime actors/channel actors/routing actors/states actors/supervision)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${folder}/ DESTINATION ${header_root}/${folder}
          FILES_MATCHING PATTERN "*.hpp" PATTERN service EXCLUDE PATTERN nats EXCLUDE)
endforeach()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/actors/video/ DESTINATION ${header_root}/actors/video
        FILES_MATCHING PATTERN "*.hpp" PATTERN media EXCLUDE PATTERN files EXCLUDE PATTERN letters EXCLUDE
        PATTERN bin_pairs.hpp EXCLUDE PATTERN cub_bins.hpp EXCLUDE)
if(RONDO_BUILD_TOOLS)
  install(TARGETS rondo rondo-serve COMPONENT commands)
  install(FILES ${PROJECT_SOURCE_DIR}/tools/rondo/share/rondo.1 ${PROJECT_SOURCE_DIR}/tools/rondo/share/rondo-serve.1
          DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT commands)
  install(FILES ${PROJECT_SOURCE_DIR}/tools/rondo/share/rondo.bash RENAME rondo
          DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT commands)
endif()
install(EXPORT rondoTargets NAMESPACE rondo:: DESTINATION ${package_dir})
# Components of the package, which need more libraries. What each needs is in rondoConfig.cmake.in.
foreach(component streams stream_processes stream_network video media client service nats commands)
  if(TARGET rondo_${component})
    install(TARGETS rondo_${component} EXPORT rondo_${component}_targets FILE_SET HEADERS DESTINATION ${header_root})
    install(EXPORT rondo_${component}_targets NAMESPACE rondo:: DESTINATION ${package_dir})
  endif()
endforeach()
if(TARGET rondo_service)  # monitor/report.hpp includes it
  install(FILES ${PROJECT_BINARY_DIR}/schemas/rondo_telemetry_schema/generated/telemetry_generated.h
          DESTINATION ${header_root}/generated)
endif()
configure_package_config_file(${PROJECT_SOURCE_DIR}/tools/cmake/rondoConfig.cmake.in
                              ${CMAKE_CURRENT_BINARY_DIR}/rondoConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/rondoConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/rondoConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/rondoConfigVersion.cmake
              ${PROJECT_SOURCE_DIR}/tools/cmake/RondoMessages.cmake ${PROJECT_SOURCE_DIR}/tools/cmake/RondoModule.cmake
              ${PROJECT_SOURCE_DIR}/tools/cmake/RondoKernels.cmake
        DESTINATION ${package_dir})
