# CPack: `cpack` in a build folder writes one .deb with command, library and headers.
set(CPACK_GENERATOR DEB)
set(CPACK_SOURCE_GENERATOR TXZ)
set(CPACK_PACKAGE_NAME feeler)
set(CPACK_PACKAGE_VENDOR feeler)
set(CPACK_PACKAGE_CONTACT "The feeler maintainers <maintainers@feeler.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Feel whether a CAD part fits")
set(CPACK_PACKAGE_DESCRIPTION
"Takes CAD parts as they come, turns them into voxels and surface points, and lets a
person move a part through an assembly with force and torque feedback at 1000 Hz.
This package holds the feeler command, the library and its headers.")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL OFF)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR})
include(CPack)

# the licence, what is new, and the documentation
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md
        DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples DESTINATION ${CMAKE_INSTALL_DOCDIR}
        FILES_MATCHING PATTERN "*.c" PATTERN "README.md")

# a template for systemd, with the rights that the loop needs
configure_file(${PROJECT_SOURCE_DIR}/packaging/feeler@.service.in
               ${PROJECT_BINARY_DIR}/generated/feeler@.service @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/generated/feeler@.service DESTINATION lib/systemd/system)
