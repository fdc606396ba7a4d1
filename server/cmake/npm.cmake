# The page's libraries: `npm ci` in ${CMAKE_BINARY_DIR}/npm, from static/package-lock.json, only what the page
# embeds and without running any package's scripts. Runs again when one of the three files changes. Sets
# KS_NPM_MODULES. The source tree is not written to.
set(KS_NPM_DIR ${CMAKE_BINARY_DIR}/npm)
set(KS_NPM_MODULES ${KS_NPM_DIR}/node_modules)

set(fingerprint "")
foreach(name package.json package-lock.json .npmrc)
    set(file ${CMAKE_SOURCE_DIR}/static/${name})
    if(EXISTS ${file})
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
        file(SHA256 ${file} hash)
        string(APPEND fingerprint "${name} ${hash}\n")
    endif()
endforeach()

set(installed "")
if(EXISTS ${KS_NPM_DIR}/installed)
    file(READ ${KS_NPM_DIR}/installed installed)
endif()
if(NOT installed STREQUAL fingerprint)
    find_program(KS_NPM NAMES npm)
    if(NOT KS_NPM)
        message(FATAL_ERROR "npm is not installed; the page's libraries come through it. "
            "On Debian: apt-get install npm, or ./deploy/quickstart.sh --deps for all that a build needs.")
    endif()
    message(STATUS "Installing the page's libraries (npm ci in ${KS_NPM_DIR})")
    file(MAKE_DIRECTORY ${KS_NPM_DIR})
    file(REMOVE ${KS_NPM_DIR}/installed)
    foreach(name package.json package-lock.json .npmrc)
        if(EXISTS ${CMAKE_SOURCE_DIR}/static/${name})
            configure_file(${CMAKE_SOURCE_DIR}/static/${name} ${KS_NPM_DIR}/${name} COPYONLY)
        endif()
    endforeach()
    execute_process(COMMAND ${KS_NPM} ci --omit=dev --ignore-scripts --no-audit --no-fund
        WORKING_DIRECTORY ${KS_NPM_DIR} RESULT_VARIABLE failure OUTPUT_VARIABLE output ERROR_VARIABLE output)
    if(failure)
        message(FATAL_ERROR "npm ci failed in ${KS_NPM_DIR}. Can this machine reach the npm registry "
            "(npm ping)? npm said:\n${output}")
    endif()
    file(WRITE ${KS_NPM_DIR}/installed "${fingerprint}")
endif()
