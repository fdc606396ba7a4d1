# The page in one C file: everything of static/ that a browser asks for, the npm files that static/vendor.list
# names, and the licences. Sets KS_ASSETS_SOURCE.
set(static ${CMAKE_SOURCE_DIR}/static)
file(GLOB_RECURSE page_files CONFIGURE_DEPENDS
    ${static}/*.html ${static}/*.js ${static}/*.css ${static}/*.svg ${static}/*.png ${static}/*.woff2)
list(FILTER page_files EXCLUDE REGEX "/node_modules/|\\.config\\.js$")

set(lines "")
set(embedded ${page_files})
foreach(file ${page_files})
    file(RELATIVE_PATH path ${static} ${file})
    string(APPEND lines "${path}\t${file}\n")
endforeach()

set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${static}/vendor.list)
file(STRINGS ${static}/vendor.list vendor_lines REGEX "^[^#]")
foreach(line ${vendor_lines})
    if(NOT line MATCHES "^([^ \t]+)[ \t]+([^ \t]+)[ \t]*$")
        message(FATAL_ERROR "static/vendor.list: a line is `served-path path-below-node_modules`, not: ${line}")
    endif()
    set(path ${CMAKE_MATCH_1})
    set(file ${KS_NPM_MODULES}/${CMAKE_MATCH_2})
    if(NOT EXISTS ${file})
        message(FATAL_ERROR "static/vendor.list names ${CMAKE_MATCH_2}, which no installed package has")
    endif()
    string(APPEND lines "${path}\t${file}\n")
    list(APPEND embedded ${file})
endforeach()

string(APPEND lines "licenses.txt\t${KS_LICENSES}\n")
list(APPEND embedded ${KS_LICENSES})

set(KS_ASSETS_LIST ${CMAKE_BINARY_DIR}/gen/assets.list)
file(CONFIGURE OUTPUT ${KS_ASSETS_LIST} CONTENT "${lines}" @ONLY)

set(KS_ASSETS_SOURCE ${CMAKE_BINARY_DIR}/gen/assets.c)
add_custom_command(OUTPUT ${KS_ASSETS_SOURCE}
    COMMAND ks_embed ${KS_ASSETS_SOURCE} ${KS_ASSETS_LIST}
    DEPENDS ks_embed ${KS_ASSETS_LIST} ${embedded}
    COMMENT "Embedding the page")
