# SPDX-License-Identifier: BSD-3-Clause
# The CUDA backend on a stand-in for the driver (fake_cuda.c), which machines without a GPU can run too. Kernels are
# compiled by NVRTC where it is installed.
add_library(fake_cuda SHARED ${CMAKE_CURRENT_LIST_DIR}/fake_cuda.c)
target_compile_options(fake_cuda PRIVATE -Wno-missing-prototypes)
target_link_libraries(fake_cuda PRIVATE Threads::Threads)
add_library(fake_nccl SHARED ${CMAKE_CURRENT_LIST_DIR}/fake_nccl.c)
target_compile_options(fake_nccl PRIVATE -Wno-missing-prototypes)
target_link_libraries(fake_nccl PRIVATE Threads::Threads ${CMAKE_DL_LIBS})
foreach(name device_conformance device_lend device_foreign device_lost device_capture device_peer device_exchange device_lanes wire_exchange)
  add_test(NAME ${name}_fake COMMAND ${name})
  set_tests_properties(${name}_fake PROPERTIES LABELS "device;short" SKIP_RETURN_CODE 77 TIMEOUT 600
    ENVIRONMENT "KUGEL_CUDA=$<TARGET_FILE:fake_cuda>;KUGEL_FAKE_CUDA=1;KUGEL_NCCL=$<TARGET_FILE:fake_nccl>;OCL_ICD_VENDORS=/none;KUGEL_TEST_NEED=cuda")
endforeach()
# NCCL before 2.14, whose ranks wait for each other in the call.
add_test(NAME wire_exchange_fake_old COMMAND wire_exchange)
set_tests_properties(wire_exchange_fake_old PROPERTIES LABELS "device;short" SKIP_RETURN_CODE 77 TIMEOUT 600
  ENVIRONMENT "KUGEL_CUDA=$<TARGET_FILE:fake_cuda>;KUGEL_FAKE_CUDA=1;KUGEL_NCCL=$<TARGET_FILE:fake_nccl>;KUGEL_FAKE_NCCL_VERSION=21300;OCL_ICD_VENDORS=/none;KUGEL_TEST_NEED=cuda")

# A kind of device that is asked for and not there fails a program, though all that ran passed.
add_test(NAME device_need COMMAND device_lend)
set_tests_properties(device_need PROPERTIES LABELS "device;short" WILL_FAIL ON
  ENVIRONMENT "KUGEL_TEST_NEED=cuda,opencl;KUGEL_CUDA=/none;OCL_ICD_VENDORS=/none")

# NVRTC of the Python package nvidia-cuda-nvrtc (./setup --dev), for machines without CUDA.
file(GLOB nvrtc ${PROJECT_SOURCE_DIR}/.venv/lib/python*/site-packages/nvidia/*/lib/libnvrtc.so.1[23])
if(nvrtc AND NOT EXISTS /usr/local/cuda/lib64/libnvrtc.so)
  list(GET nvrtc -1 nvrtc)
  foreach(name codegen_modules codegen_nvrtc device_conformance_fake)
    set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT "KUGEL_NVRTC=${nvrtc}")
  endforeach()
endif()
