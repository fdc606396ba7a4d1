/* The row of this server, where several share a catalogue. See store_nodes.h. */
#ifndef KS_STORE_NODES_NODES_H
#define KS_STORE_NODES_NODES_H

#include "ingest/store/internal.h"
#include "ingest/store/store_nodes.h"

/* With the catalogue open, before jobs are claimed; of an embedded one it notes the name alone.
 * NULL: the name of the machine; not told. */
bool node_join(struct store *store, const char *name, const char *address, struct err *err)
    KS_MUST_USE;
/* In a transaction of the caller's. */
bool node_renew(struct store *store, struct err *err) KS_MUST_USE;
/* Its end: jobs and duties go to others. Does nothing where the catalogue is embedded. */
void node_leave(struct store *store);

#endif
