/* A catalogue on a database server and the data directory that belongs to it: files of traces and
 * uploads lie there, and each without the other is of no use. Both have the same id, the data
 * directory in the file catalogue-id. */
#ifndef KS_STORE_CATALOGUE_SERVER_CATALOGUE_H
#define KS_STORE_CATALOGUE_SERVER_CATALOGUE_H

#include "ingest/store/internal.h"

/* Creates the tables, and the file. */
bool server_catalogue_create(struct store *store, struct err *err) KS_MUST_USE;
/* ERR_CONFLICT: the database belongs to another data directory. With objects a new data directory
 * may join it, unless files of its traces lie in that other one. */
bool server_catalogue_check(struct store *store, bool has_objects, struct err *err) KS_MUST_USE;
/* ERR_CONFLICT: the catalogue of this data directory is on a server, so none is embedded. */
bool server_catalogue_none(const struct store *store, struct err *err) KS_MUST_USE;
/* The id of this server among those that share the catalogue, in the file node-id: as long as it
 * has the data directory, whatever has this id and is not its own is of a process that ended. */
bool server_catalogue_node(struct store *store, struct err *err) KS_MUST_USE;

#endif
