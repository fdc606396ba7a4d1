# The page in one C file: everything of static/ that a browser asks for, the npm files that static/vendor.list
# names, and the licences. index.html gets the version and the graph of the modules by tools/page_index.mjs. Sets
# KS_ASSETS_SOURCE.
set(static ${CMAKE_SOURCE_DIR}/static)
file(GLOB_RECURSE page_files CONFIGURE_DEPENDS
    ${static}/*.html ${static}/*.py ${static}/*.js ${static}/*.css ${static}/*.svg ${static}/*.png ${static}/*.woff2)
list(FILTER page_files EXCLUDE REGEX "/node_modules/|\\.config\\.js$")

set(lines "")
set(embedded ${page_files})
list(REMOVE_ITEM page_files ${static}/index.html)
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

set(page_list ${CMAKE_BINARY_DIR}/gen/page.list)
file(CONFIGURE OUTPUT ${page_list} CONTENT "${lines}" @ONLY)

# Whoever has npm has node.
find_program(KS_NODE NAMES node nodejs)
if(NOT KS_NODE)
    message(FATAL_ERROR "node is not installed; the build joins the page's modules with it. "
        "On Debian: apt-get install nodejs, or ./deploy/quickstart.sh --deps for all that a build needs.")
endif()
set(page_index ${CMAKE_BINARY_DIR}/gen/index.html)
set(page_version ${CMAKE_BINARY_DIR}/gen/page.version)
set(index_tool ${CMAKE_CURRENT_SOURCE_DIR}/tools/page_index.mjs)
add_custom_command(OUTPUT ${page_index} ${page_version}
    COMMAND ${KS_NODE} ${index_tool} ${static}/index.html ${page_list} ${page_index} ${page_version}
    DEPENDS ${index_tool} ${static}/index.html ${page_list} ${embedded}
    COMMENT "Joining the page's modules")

string(APPEND lines "index.html\t${page_index}\n")
list(APPEND embedded ${page_index} ${page_version})
set(KS_ASSETS_LIST ${CMAKE_BINARY_DIR}/gen/assets.list)
file(CONFIGURE OUTPUT ${KS_ASSETS_LIST} CONTENT "${lines}" @ONLY)

set(KS_ASSETS_SOURCE ${CMAKE_BINARY_DIR}/gen/assets.c)
add_custom_command(OUTPUT ${KS_ASSETS_SOURCE}
    COMMAND ks_embed ${KS_ASSETS_SOURCE} ${KS_ASSETS_LIST} ${page_version}
    DEPENDS ks_embed ${KS_ASSETS_LIST} ${embedded}
    COMMENT "Embedding the page")
