# Writes ${KS_LICENSES}: what is built into the program and its page, and under which terms. The npm packages
# are those that npm.cmake installed, which are exactly the production dependencies.
set(text "Kinetoscope is built from the parts below.\n")

function(ks_describe_package dir)
    file(READ ${dir}/package.json json)
    foreach(member name version license)
        string(JSON ${member} ERROR_VARIABLE none GET "${json}" ${member})
        if(none)
            set(${member} "(not named)")
        endif()
    endforeach()
    set(terms "The package has no file with its terms; its licence is named as ${license}.\n")
    file(GLOB files ${dir}/LICEN[SC]E* ${dir}/licen[sc]e* ${dir}/NOTICE* ${dir}/COPYING*)
    if(files)
        set(terms "")
        foreach(file ${files})
            file(READ ${file} content)
            string(APPEND terms "${content}\n")
        endforeach()
    endif()
    set(entry "\n==== ${name} ${version} (${license}), npm\n\n${terms}")
    set(text "${text}${entry}" PARENT_SCOPE)
endfunction()

file(GLOB packages ${KS_NPM_MODULES}/*/package.json ${KS_NPM_MODULES}/@*/*/package.json)
foreach(package ${packages})
    get_filename_component(dir ${package} DIRECTORY)
    ks_describe_package(${dir})
endforeach()

string(APPEND text "
==== Libraries of the system that the program is linked with

civetweb                   MIT
SQLite                     public domain
ISA-L                      BSD-3-Clause
Zstandard (libzstd)        BSD-3-Clause
Jansson                    MIT
OpenSSL (libcrypto)        Apache-2.0
curl (libcurl)             curl

Their terms in full are installed with their packages; on Debian in /usr/share/doc/PACKAGE/copyright.
")
set(KS_LICENSES ${CMAKE_BINARY_DIR}/gen/licenses.txt)
file(CONFIGURE OUTPUT ${KS_LICENSES} CONTENT "${text}" @ONLY)
