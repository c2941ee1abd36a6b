# Debian packages, made by CPack: librondo-dev (headers, static libraries, the CMake package) and rondo (the commands). tools/deb sets
# RONDO_PACKAGE_VERSION, RONDO_PACKAGE_DATE (of the changelog) and RONDO_PACKAGE_MAINTAINER.
#
# The libraries are static and make no promise about their ABI. So librondo-dev names the versions of those libraries whose headers are
# compiled into it: with other ones, a program would not link, or would see other layouts.
get_target_property(boost_headers Boost::headers INTERFACE_INCLUDE_DIRECTORIES)
execute_process(COMMAND dpkg-query --search ${boost_headers}/boost/version.hpp OUTPUT_VARIABLE boost_package RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${boost_headers} belongs to no Debian package, so librondo-dev cannot depend on it: use Debian's Boost (tools/deps)")
endif()
string(REGEX REPLACE "[:,].*" "" boost_package "${boost_package}")
find_package(fmt REQUIRED)
string(REGEX MATCH "^[0-9]+" fmt_major "${fmt_VERSION}")
math(EXPR fmt_next "${fmt_major} + 1")
string(REGEX MATCH "^(.*\\.)([0-9]+)$" matched "${Flatbuffers_VERSION}")
math(EXPR flatbuffers_next "${CMAKE_MATCH_2} + 1")
set(flatbuffers_next ${CMAKE_MATCH_1}${flatbuffers_next})

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME rondo)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "actor runtime with exact priorities and bounded memory")
set(CPACK_PACKAGE_VERSION ${RONDO_PACKAGE_VERSION})
set(CPACK_PACKAGING_INSTALL_PREFIX ${CMAKE_INSTALL_PREFIX})
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_COMPONENTS_ALL development commands)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "${RONDO_PACKAGE_MAINTAINER}")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/tools/cmake/RondoPackageFiles.cmake)
set(CPACK_RONDO_SOURCE ${PROJECT_SOURCE_DIR})
set(CPACK_RONDO_DATE "${RONDO_PACKAGE_DATE}")
set(CPACK_RONDO_STRIP ${CMAKE_STRIP})

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME librondo-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "${boost_package}, \
libfmt-dev (>= ${fmt_major}), libfmt-dev (<< ${fmt_next}), \
libflatbuffers-dev (>= ${Flatbuffers_VERSION}), libflatbuffers-dev (<< ${flatbuffers_next}~), flatbuffers-compiler")
# The components client, service and commands; then nats and media.
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_RECOMMENDS "cmake (>= 3.25), g++ (>= 4:12), libssl-dev, libcli11-dev")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SUGGESTS "pkg-config, libnats-dev, \
libavformat-dev, libavcodec-dev, libavdevice-dev, libavfilter-dev, libswresample-dev, libswscale-dev, libsdl2-dev, libfreetype-dev")
set(CPACK_DEBIAN_DEVELOPMENT_DESCRIPTION "Rondo is an actor runtime for C++20. This package has its headers, static
libraries, the schema compiler and the CMake package rondo. Two versions do
not have the same ABI: build a program and all its parts with one version.
.
The device cuda is not included, because NVIDIA's toolkit is not part of
Debian. Rondo built from source has it.")

set(CPACK_DEBIAN_COMMANDS_PACKAGE_NAME rondo)
set(CPACK_DEBIAN_COMMANDS_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_COMMANDS_PACKAGE_RECOMMENDS fonts-dejavu-core)
set(CPACK_DEBIAN_COMMANDS_DESCRIPTION "Rondo is an actor runtime for C++20. The command rondo hosts actors that
other processes talk to over a socket, sends them messages, shows what they
do, and runs graphs of stages from files. rondo-serve is the same without
graphs and video.")
include(CPack)
