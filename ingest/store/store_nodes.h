/* The servers that share a catalogue: which there are, and which of them does what one does for
 * all. An embedded catalogue has one, which has all duties. */
#ifndef KS_STORE_STORE_NODES_H
#define KS_STORE_STORE_NODES_H

#include "ingest/store/store.h"

/* A server that was not seen for so long is taken for gone: others do its jobs. */
#define STORE_NODE_GONE_S 35

struct store_node {
    const char *name;
    const char *address; /* "": not told */
    const char *version;
    int64_t started_at_s;
    int64_t silent_s;  /* since its last heartbeat */
    int64_t job_count; /* that it has now */
    bool is_draining;
    bool is_this;
};

/* By name. */
bool store_nodes(struct store_snapshot *snapshot,
                 struct arena *arena,
                 struct store_node **rows,
                 size_t *count,
                 struct err *err) KS_MUST_USE;

enum store_duty { STORE_DUTY_RETENTION, STORE_DUTY_OBJECTS, STORE_DUTY_WEBHOOKS, STORE_DUTIES };

/* Whether this server has the duty, which it takes if nobody has it. Ask before each piece of work:
 * it is lost after a minute of silence. Asks the database only now and then; when that does not
 * answer, another may have it. */
bool store_has_duty(struct store *store, enum store_duty duty);
/* From now on this server takes no jobs and no duties. */
bool store_node_drain(struct store *store, struct err *err) KS_MUST_USE;

#endif
