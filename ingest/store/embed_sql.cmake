# Writes the schema as one C file:  cmake -D OUTPUT=<file.c> -D NAME=<symbol> -D "FILES=<1_a.sql;…>" -P embed_sql.cmake
# Numbers, not a string literal: one may be no longer than 4095 characters in C.
set(hex "")
list(SORT FILES)
foreach(file ${FILES})
    file(READ ${file} content HEX)
    string(APPEND hex ${content})
endforeach()
string(REGEX REPLACE "(................................)" "\\1\n    " hex "${hex}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1, " bytes "${hex}")
file(WRITE ${OUTPUT} "/* Written by embed_sql.cmake. */
#include \"ingest/store/schema/schema.h\"

const char ${NAME}[] = {
    ${bytes}0x00};
")
