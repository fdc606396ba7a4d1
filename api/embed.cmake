# cmake -DINPUT=openapi.json -DOUTPUT=dir/gen_openapi -P embed.cmake: writes gen_openapi.{h,c} with the bytes of the file.
file(READ ${INPUT} bytes HEX)
string(LENGTH "${bytes}" digits)
math(EXPR count "${digits} / 2")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)" "\\1\n" bytes "${bytes}")
file(WRITE ${OUTPUT}.h "#ifndef GEN_OPENAPI_H\n#define GEN_OPENAPI_H\n#include <stddef.h>\nextern const unsigned char gen_openapi[];\nextern const size_t gen_openapi_bytes;\n#endif\n")
file(WRITE ${OUTPUT}.c "#include \"gen_openapi.h\"\nconst unsigned char gen_openapi[] = {\n${bytes}};\nconst size_t gen_openapi_bytes = ${count};\n")
