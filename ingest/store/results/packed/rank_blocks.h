/* Packs what the views of a run of many ranks are made of. */
#ifndef KS_STORE_RESULTS_RANK_BLOCKS_H
#define KS_STORE_RESULTS_RANK_BLOCKS_H

#include "ingest/store/codec/column_parts.h"

/* A struct rank_digest. */
void rank_digest_encode(struct column_parts *parts, const void *block);
void rank_digest_decode(struct column_decoder *dec, void *block);
/* A struct operation_table. */
void operations_encode(struct column_parts *parts, const void *block);
void operations_decode(struct column_decoder *dec, void *block);

#endif
