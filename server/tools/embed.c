/* Turns files into one C source, at build time: ks_embed OUTPUT LIST VERSION
 * LIST has one `served path<TAB>file` a line. Each becomes a struct asset with its bytes, its gzip
 * form where that is shorter, and an ETag made of its hash; in order of path, so that the server
 * can search them. VERSION is a file with the version of them all. */
#include "ingest/base/order.h"
#include "ingest/base/sha256.h"
#include "ingest/base/text/buf.h"
#include "server/http/gzip_encode.h"
#include "server/http/mime.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILES_MAX 1024
#define LINE_MAX_BYTES 4096
#define FILE_MAX_BYTES ((size_t)64 << 20)
#define READ_BYTES ((size_t)64 << 10)
#define ETAG_HEX_LEN 16

struct entry {
    char *path;
    char *file;
    char etag[SHA256_HEX_BYTES];
    size_t len;
    size_t gzip_len;
};

struct embed {
    struct entry entries[FILES_MAX];
    size_t count;
    FILE *out;
};

static bool complain(const char *what, const char *name)
{
    (void)fprintf(stderr, "ks_embed: %s: %s\n", name, what);
    return false;
}

static bool add_line(struct embed *embed, char *line)
{
    line[strcspn(line, "\r\n")] = '\0';
    if (*line == '\0') {
        return true;
    }
    char *tab = strchr(line, '\t');
    if (tab == NULL || embed->count == FILES_MAX) {
        return complain(tab == NULL ? "a line is: path, tab, file" : "too many files", line);
    }
    *tab = '\0';
    struct entry *entry = &embed->entries[embed->count++];
    entry->path = strdup(line);
    entry->file = strdup(tab + 1);
    return (entry->path != NULL && entry->file != NULL) || complain("no memory", line);
}

ORDER_BY(compare_paths, struct entry, ORDER_TEXT(path))

static bool read_list(struct embed *embed, const char *name)
{
    FILE *list = fopen(name, "r");
    if (list == NULL) {
        return complain(strerror(errno), name);
    }
    char line[LINE_MAX_BYTES];
    bool ok = true;
    while (ok && fgets(line, sizeof line, list) != NULL) {
        ok = add_line(embed, line);
    }
    (void)fclose(list);
    qsort(embed->entries, embed->count, sizeof embed->entries[0], compare_paths);
    for (size_t i = 1; ok && i < embed->count; i++) {
        if (strcmp(embed->entries[i - 1].path, embed->entries[i].path) == 0) {
            ok = complain("served by two files", embed->entries[i].path);
        }
    }
    return ok;
}

static bool read_file(const char *name, struct buf *content)
{
    FILE *file = fopen(name, "rb");
    if (file == NULL) {
        return complain(strerror(errno), name);
    }
    size_t got = 0;
    do {
        char *room = buf_reserve(content, READ_BYTES);
        got = room == NULL ? 0 : fread(room, 1, READ_BYTES, file);
        content->len += got;
    } while (got > 0);
    bool ok = !ferror(file) && !content->failed;
    (void)fclose(file);
    return ok || complain("cannot be read", name);
}

static bool make_etag(struct entry *entry, const struct buf *content)
{
    struct sha256 *hash = sha256_create();
    if (hash == NULL) {
        return complain("no memory", entry->path);
    }
    sha256_update(hash, content->ptr, content->len);
    sha256_final_hex(hash, entry->etag);
    sha256_destroy(hash);
    entry->etag[ETAG_HEX_LEN] = '\0';
    return true;
}

static void write_bytes(FILE *out, const char *kind, size_t number, const struct buf *bytes)
{
    (void)fprintf(out, "static const unsigned char %s_%zu[] = {", kind, number);
    for (size_t i = 0; i < bytes->len; i++) {
        (void)fprintf(out, "%s%u,", i % 32 == 0 ? "\n" : "",
                      (unsigned)(unsigned char)bytes->ptr[i]);
    }
    /* An array has at least one element. */
    (void)fprintf(out, "%s};\n", bytes->len == 0 ? "0" : "");
}

static bool write_entry(struct embed *embed, size_t number)
{
    struct entry *entry = &embed->entries[number];
    struct buf content;
    struct buf gzipped;
    buf_init(&content, FILE_MAX_BYTES);
    buf_init(&gzipped, FILE_MAX_BYTES);
    bool ok = read_file(entry->file, &content) && make_etag(entry, &content);
    if (ok) {
        entry->len = content.len;
        write_bytes(embed->out, "bytes", number, &content);
    }
    if (ok && mime_is_compressible(mime_of(entry->path))) {
        ok = gzip_encode(content.ptr, content.len, GZIP_SMALL, &gzipped) ||
             complain("cannot be compressed", entry->file);
        if (ok && gzipped.len < content.len) {
            entry->gzip_len = gzipped.len;
            write_bytes(embed->out, "gzip", number, &gzipped);
        }
    }
    buf_free(&gzipped);
    buf_free(&content);
    return ok;
}

static void write_table(const struct embed *embed)
{
    (void)fprintf(embed->out, "\nconst struct asset assets_embedded[] = {\n");
    for (size_t i = 0; i < embed->count; i++) {
        const struct entry *entry = &embed->entries[i];
        char gzip[40] = "NULL";
        if (entry->gzip_len > 0) {
            (void)snprintf(gzip, sizeof gzip, "gzip_%zu", i);
        }
        (void)fprintf(
            embed->out, "    {\"%s\", \"%s\", \"\\\"%s\\\"\", bytes_%zu, %zu, %s, %zu},\n",
            entry->path, mime_of(entry->path), entry->etag, i, entry->len, gzip, entry->gzip_len);
    }
    (void)fprintf(embed->out, "};\nconst size_t assets_embedded_count = %zu;\n", embed->count);
}

static bool write_version(struct embed *embed, const char *name)
{
    struct buf version;
    buf_init(&version, FILE_MAX_BYTES);
    bool ok = read_file(name, &version);
    buf_putc(&version, '\0');
    ok = ok && !version.failed;
    if (ok) {
        version.ptr[strcspn(version.ptr, "\r\n")] = '\0';
        (void)fprintf(embed->out, "const char assets_version[] = \"%s\";\n", version.ptr);
    }
    buf_free(&version);
    return ok;
}

static bool write_source(struct embed *embed, const char *name, const char *version)
{
    embed->out = fopen(name, "w");
    if (embed->out == NULL) {
        return complain(strerror(errno), name);
    }
    (void)fprintf(
        embed->out,
        "/* Made by ks_embed from the page's files. */\n#include \"server/http/assets.h\"\n\n");
    bool ok = write_version(embed, version);
    for (size_t i = 0; ok && i < embed->count; i++) {
        ok = write_entry(embed, i);
    }
    if (ok) {
        write_table(embed);
    }
    bool written = !ferror(embed->out);
    written = fclose(embed->out) == 0 && written;
    return ok && (written || complain("cannot be written", name));
}

static void embed_free(struct embed *embed)
{
    for (size_t i = 0; i < embed->count; i++) {
        free(embed->entries[i].path);
        free(embed->entries[i].file);
    }
    free(embed);
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        (void)fprintf(stderr, "usage: ks_embed OUTPUT LIST VERSION\n");
        return 2;
    }
    struct embed *embed = calloc(1, sizeof *embed);
    if (embed == NULL) {
        return 1;
    }
    bool ok = read_list(embed, argv[2]) &&
              (embed->count > 0 || complain("names no files", argv[2])) &&
              write_source(embed, argv[1], argv[3]);
    if (!ok) {
        (void)remove(argv[1]);
    }
    embed_free(embed);
    return ok ? 0 : 1;
}
