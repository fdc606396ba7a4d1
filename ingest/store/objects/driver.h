/* What a kind of place for objects implements; objects.h has the contract. Keys are checked. */
#ifndef KS_STORE_OBJECTS_DRIVER_H
#define KS_STORE_OBJECTS_DRIVER_H

#include "ingest/store/objects/objects.h"

/* Each kind of place has a struct that begins with one of these. */
struct objects {
    const struct objects_driver *driver;
};
struct object_put {
    const struct objects_driver *driver;
};

struct objects_driver {
    void (*close)(struct objects *objects);
    bool (*put_begin)(struct objects *objects,
                      const char *key,
                      struct object_put **put,
                      struct err *err);
    bool (*put_write)(struct object_put *put, const void *bytes, size_t len, struct err *err);
    bool (*put_finish)(struct object_put *put, struct object_info *info, struct err *err);
    void (*put_abort)(struct object_put *put);
    bool (*discard)(struct objects *objects, const char *key, struct err *err);
    bool (*head)(struct objects *objects,
                 const char *key,
                 struct object_info *info,
                 struct err *err);
    bool (*range)(struct objects *objects,
                  const char *key,
                  uint64_t offset,
                  void *bytes,
                  size_t len,
                  struct err *err);
    bool (*probe)(struct objects *objects, struct err *err);
    bool (*delete_many)(struct objects *objects,
                        const char *const *keys,
                        size_t count,
                        struct err *err);
};

/* `path` is absolute. */
bool folder_open(struct objects **out, const char *path, struct err *err) KS_MUST_USE;

/* `rest` is bucket[/prefix]. Absent from a build without libcurl (KS_CLUSTER). All numbers of
 * `options` are set. */
bool s3_open(struct objects **out,
             const char *rest,
             const struct objects_options *options,
             struct err *err) KS_MUST_USE;

#endif
