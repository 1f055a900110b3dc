# find_package(interstice) gives the target interstice::client.
include("${CMAKE_CURRENT_LIST_DIR}/interstice-dependencies.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/interstice-targets.cmake")
