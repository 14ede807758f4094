# SPDX-License-Identifier: BSD-3-Clause
# Plans over ranks with devices whose exchanges go in two steps: the same truths, the same bits.
foreach(name volume_ranks_device sphere_sht_ranks_device)
  add_test(NAME ${name}_two_steps COMMAND ${name})
  set_tests_properties(${name}_two_steps PROPERTIES LABELS "wire;device;long" SKIP_RETURN_CODE 77 TIMEOUT 1800
    ENVIRONMENT "KUGEL_PEERS_GROUP=2;${KUGEL_TEST_ENVIRONMENT}")
endforeach()
