# Target QUDA::quda: the headers and the libquda.so of the folder that this file is installed in. It needs no CUDA compiler.
get_filename_component(QUDA_PREFIX "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(QUDA_VERSION 1.1.0)
if(NOT TARGET QUDA::quda)
  add_library(QUDA::quda SHARED IMPORTED)
  set_target_properties(QUDA::quda PROPERTIES
    IMPORTED_LOCATION "${QUDA_PREFIX}/lib/libquda.so"
    INTERFACE_INCLUDE_DIRECTORIES "${QUDA_PREFIX}/include")
endif()
