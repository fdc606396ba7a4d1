/* The Python frames around every event, as paths: equal stacks are one path, stored once.
 *
 *     train.py(9): main      path 1, around it none
 *       model.py(4): forward path 2, around it 1
 *         aten::mm           of[] = 2
 *     autograd thread:
 *       MmBackward0          of[] = 3: "(backward)", around it 2
 *
 *   - A frame is an event of the classes INDEX_FUNCTION, INDEX_MODULE and INDEX_PYTHON.
 *   - Modules of one type are one frame, so that layers join, unless they are to be kept apart:
 *     `nn.Module: Linear_0` and `nn.Module: Linear_1` are `nn.Module: Linear`.
 *   - Host events have the path of the innermost frame around them on their thread; a frame has its
 *     own. Device work has the path of its call; without a call, of its operator.
 *   - An operator without a frame to which a flow of autograd leads has the path of its forward
 *     operator, and below that the frame CALL_PATHS_BACKWARD; so has what it contains. Of flows
 * with one id the last counts, as in [TB-3a].
 *
 * 4 bytes an event, 16 a path; O(n log n) with flows, else O(n). No recursion. */
#ifndef KS_ANALYSIS_STACKS_CALL_PATHS_H
#define KS_ANALYSIS_STACKS_CALL_PATHS_H

#include "ingest/base/attr.h"
#include "ingest/base/containers/key_map.h"
#include "ingest/base/text/buf.h"
#include "ingest/base/text/strtab.h"
#include "ingest/index/index.h"

#include <stdbool.h>
#include <stdint.h>

#define CALL_PATH_NONE 0
#define CALL_PATHS_BACKWARD "(backward)"

/* The names of frames, without the addresses of objects (python_frame_stem): several traces may
 * share one. */
struct frame_names {
    struct strtab *texts;
    struct buf text; /* of the name read last */
};

enum call_paths_modules { MODULES_BY_TYPE, MODULES_APART };

struct call_paths {
    const struct trace_index *index;
    struct frame_names names;
    uint32_t *name_of;   /* by string id of the trace: in `names`, STRTAB_NONE until asked for */
    struct key_map keys; /* path - 1: the path around it, and the name of its frame in `names` */
    uint32_t *of;        /* by event: a path, CALL_PATH_NONE */
    uint32_t *module;    /* by path: the innermost path in it that is a module, CALL_PATH_NONE */
    size_t module_cap;
    enum call_paths_modules modules;
    uint32_t backward; /* the name CALL_PATHS_BACKWARD */
};

/* False without memory; must be freed in either case. */
bool frame_names_init(struct frame_names *names) KS_MUST_USE;
void frame_names_free(struct frame_names *names);
/* The id of a name; STRTAB_NONE without memory. */
uint32_t frame_names_add(struct frame_names *names, const char *name, size_t len);

/* False without memory; must be freed in either case. The index must outlive the paths. */
bool call_paths_build(struct call_paths *paths,
                      const struct trace_index *index,
                      enum call_paths_modules modules) KS_MUST_USE;
void call_paths_free(struct call_paths *paths);

static inline uint32_t call_paths_parent(const struct call_paths *paths, uint32_t path)
{
    return paths->keys.keys[path - 1].id[0];
}

/* The name of the innermost frame of a path: its id in names.texts. */
static inline uint32_t call_paths_name(const struct call_paths *paths, uint32_t path)
{
    return paths->keys.keys[path - 1].id[1];
}

static inline const char *call_paths_frame(const struct call_paths *paths, uint32_t path)
{
    return strtab_text(paths->names.texts, call_paths_name(paths, path));
}

#endif
