# Writes the migrations as one C file:  cmake -D OUTPUT=<file.c> -D "FILES=<0001_a.sql;…>" -P embed_sql.cmake
# The number that a file name begins with is the schema version that the migration leads to; versions count
# from 1 without gaps. Bytes, not string literals: those may be no longer than 4095 characters in C.
set(arrays "")
set(rows "")
set(version 0)
list(SORT FILES)
foreach(file ${FILES})
    math(EXPR version "${version} + 1")
    get_filename_component(name ${file} NAME)
    string(REGEX MATCH "^[0-9]+" digits ${name})
    string(REGEX REPLACE "^0+" "" number "${digits}")
    if(NOT number STREQUAL version)
        message(FATAL_ERROR "${file}: migration ${version} is expected here")
    endif()
    file(READ ${file} hex HEX)
    string(REGEX REPLACE "(................................)" "\\1\n    " hex "${hex}")
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1, " bytes "${hex}")
    string(APPEND arrays "/* ${name} */\nstatic const unsigned char migration_${version}[] = {\n    ${bytes}0x00};\n\n")
    string(APPEND rows "    {${version}, \"${name}\", migration_${version}},\n")
endforeach()
file(WRITE ${OUTPUT} "/* Written by embed_sql.cmake. */
#include \"ingest/store/db/migrations.h\"

${arrays}const struct store_migration store_migrations[] = {
${rows}};

const size_t store_migration_count = sizeof store_migrations / sizeof store_migrations[0];
")
