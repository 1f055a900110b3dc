# What the client links: gRPC and protobuf as pkg-config finds them, because Debian's package of gRPC has no CMake files.
include(CMakeFindDependencyMacro)
find_dependency(Threads)
find_dependency(PkgConfig)
if(NOT TARGET PkgConfig::INTERSTICE_GRPC)
  pkg_check_modules(INTERSTICE_GRPC REQUIRED IMPORTED_TARGET GLOBAL grpc++ protobuf libcrypto)
endif()
