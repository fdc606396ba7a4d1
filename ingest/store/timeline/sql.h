/* Kinds of rows in the tables timeline_block and timeline. */
#ifndef KS_STORE_TIMELINE_SQL_H
#define KS_STORE_TIMELINE_SQL_H

#define TIMELINE_SLICES_KIND "slices"
#define TIMELINE_POINTS_KIND "points"
#define TIMELINE_FLOWS_KIND "flows"
#define TIMELINE_FLOWS_BY_TARGET_KIND "flows_by_target"
#define TIMELINE_TRACKS_KIND "tracks"
#define TIMELINE_LABELS_KIND "labels"

#endif
