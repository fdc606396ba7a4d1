/* Parses the headers of multipart/form-data: the boundary of the body, the names of a part. */
#ifndef KS_API_UPLOAD_MULTIPART_HEADER_H
#define KS_API_UPLOAD_MULTIPART_HEADER_H

#include <stdbool.h>
#include <stddef.h>

#define MULTIPART_BOUNDARY_BYTES 71 /* 70 characters (RFC 2046) and the NUL */
#define MULTIPART_NAME_BYTES 1024

struct multipart_names {
    char name[MULTIPART_NAME_BYTES];      /* longer names are cut, then refused as file names */
    char file_name[MULTIPART_NAME_BYTES]; /* its last path component */
    bool has_file_name;
    bool file_name_is_extended; /* from filename*=, which wins over filename= */
};

/* The boundary of "multipart/form-data; boundary=..."; false when it is anything else. */
bool multipart_header_boundary(const char *content_type, char boundary[MULTIPART_BOUNDARY_BYTES]);
void multipart_names_clear(struct multipart_names *names);
/* Takes the names from one header line of a part, if it is a Content-Disposition. */
void multipart_header_names(const char *line, struct multipart_names *names);

#endif
