/* All handlers of the table of routes. A handler fills the response, or returns false with an error
 * that becomes the problem. */
#ifndef KS_API_HANDLERS_H
#define KS_API_HANDLERS_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"

#include <stdbool.h>

struct api_call;

/* upload.c */
bool upload_put(struct api_call *call, struct err *err) KS_MUST_USE;
bool upload_post(struct api_call *call, struct err *err) KS_MUST_USE;
/* runs.c */
bool runs_list(struct api_call *call, struct err *err) KS_MUST_USE;
bool runs_get(struct api_call *call, struct err *err) KS_MUST_USE;
bool runs_patch(struct api_call *call, struct err *err) KS_MUST_USE;
bool runs_delete(struct api_call *call, struct err *err) KS_MUST_USE;
/* notes.c */
bool notes_of_run(struct api_call *call, struct err *err) KS_MUST_USE;
bool notes_of_trace(struct api_call *call, struct err *err) KS_MUST_USE;
bool notes_post(struct api_call *call, struct err *err) KS_MUST_USE;
bool notes_delete(struct api_call *call, struct err *err) KS_MUST_USE;
/* agents/skill.c */
bool skill_get(struct api_call *call, struct err *err) KS_MUST_USE;
/* history/webhooks.c */
bool webhooks_list(struct api_call *call, struct err *err) KS_MUST_USE;
/* traces.c */
bool traces_list(struct api_call *call, struct err *err) KS_MUST_USE;
bool traces_get(struct api_call *call, struct err *err) KS_MUST_USE;
bool traces_patch(struct api_call *call, struct err *err) KS_MUST_USE;
bool traces_delete(struct api_call *call, struct err *err) KS_MUST_USE;
bool traces_raw(struct api_call *call, struct err *err) KS_MUST_USE;
/* overview.c, operators.c, kernels.c */
bool overview_get(struct api_call *call, struct err *err) KS_MUST_USE;
bool overview_steps(struct api_call *call, struct err *err) KS_MUST_USE;
bool operators_get(struct api_call *call, struct err *err) KS_MUST_USE;
bool kernels_get(struct api_call *call, struct err *err) KS_MUST_USE;
bool flame_graph_get(struct api_call *call, struct err *err) KS_MUST_USE;
bool kernel_stacks_get(struct api_call *call, struct err *err) KS_MUST_USE;
/* device_time/device_time.c */
bool device_time_get(struct api_call *call, struct err *err) KS_MUST_USE;
bool device_time_kernels(struct api_call *call, struct err *err) KS_MUST_USE;

/* device_time/device_operators.c */
bool device_operators_get(struct api_call *call, struct err *err) KS_MUST_USE;

/* causes/efficiency.c */
bool efficiency_get(struct api_call *call, struct err *err) KS_MUST_USE;

/* causes/critical_path.c */
bool critical_path_get(struct api_call *call, struct err *err) KS_MUST_USE;

/* causes/idle.c */
bool idle_get(struct api_call *call, struct err *err) KS_MUST_USE;
bool idle_gaps_get(struct api_call *call, struct err *err) KS_MUST_USE;

/* causes/power.c */
bool power_get(struct api_call *call, struct err *err) KS_MUST_USE;

/* causes/launches.c */
bool launches_get(struct api_call *call, struct err *err) KS_MUST_USE;
bool step_launches_get(struct api_call *call, struct err *err) KS_MUST_USE;

/* device_time/engine_steps.c */
bool engine_steps_get(struct api_call *call, struct err *err) KS_MUST_USE;

/* recordings/contents.c */
bool contents_get(struct api_call *call, struct err *err) KS_MUST_USE;
bool names_get(struct api_call *call, struct err *err) KS_MUST_USE;
/* Groupings of kernels. */
bool op_types_get(struct api_call *call, struct err *err) KS_MUST_USE;
bool kernel_metrics_get(struct api_call *call, struct err *err) KS_MUST_USE;
bool memory_categories_get(struct api_call *call, struct err *err) KS_MUST_USE;
/* recordings/memory_snapshot.c */
bool snapshot_get(struct api_call *call, struct err *err) KS_MUST_USE;
bool snapshot_frames_get(struct api_call *call, struct err *err) KS_MUST_USE;
bool snapshot_blocks_get(struct api_call *call, struct err *err) KS_MUST_USE;
bool snapshot_curve_get(struct api_call *call, struct err *err) KS_MUST_USE;
bool snapshot_lives_get(struct api_call *call, struct err *err) KS_MUST_USE;
bool snapshot_segments_get(struct api_call *call, struct err *err) KS_MUST_USE;
/* slices.c */
bool slices_get(struct api_call *call, struct err *err) KS_MUST_USE;
/* sql.c */
bool sql_get(struct api_call *call, struct err *err) KS_MUST_USE;
bool results_file_get(struct api_call *call, struct err *err) KS_MUST_USE;
/* memory.c, memory_events.c, memory_curve.c, modules.c */
bool memory_get(struct api_call *call, struct err *err) KS_MUST_USE;
bool memory_events(struct api_call *call, struct err *err) KS_MUST_USE;
bool memory_curve(struct api_call *call, struct err *err) KS_MUST_USE;
bool modules_get(struct api_call *call, struct err *err) KS_MUST_USE;
/* call_tree.c, distributed.c, diff.c, diff_tree.c */
bool call_tree_threads(struct api_call *call, struct err *err) KS_MUST_USE;
bool call_tree_get(struct api_call *call, struct err *err) KS_MUST_USE;
bool distributed_get(struct api_call *call, struct err *err) KS_MUST_USE;
bool diff_get(struct api_call *call, struct err *err) KS_MUST_USE;
bool diff_summary_get(struct api_call *call, struct err *err) KS_MUST_USE;
bool diff_causes_get(struct api_call *call, struct err *err) KS_MUST_USE;
bool diff_tree_get(struct api_call *call, struct err *err) KS_MUST_USE;
/* timeline.c, timeline_event.c, tensors.c, search.c, window.c, trace_export.c */
bool timeline_tracks(struct api_call *call, struct err *err) KS_MUST_USE;
bool timeline_window(struct api_call *call, struct err *err) KS_MUST_USE;
bool timeline_event_get(struct api_call *call, struct err *err) KS_MUST_USE;
bool event_tensors_get(struct api_call *call, struct err *err) KS_MUST_USE;
bool search_get(struct api_call *call, struct err *err) KS_MUST_USE;
bool window_get(struct api_call *call, struct err *err) KS_MUST_USE;
bool trace_export_get(struct api_call *call, struct err *err) KS_MUST_USE;
/* kernel_utilisation.c, cycles_route.c */
bool kernel_utilisation_get(struct api_call *call, struct err *err) KS_MUST_USE;
bool kernel_utilisation_launches(struct api_call *call, struct err *err) KS_MUST_USE;
bool cycles_route_get(struct api_call *call, struct err *err) KS_MUST_USE;
/* compare.c, compare_get.c */
bool compare_post(struct api_call *call, struct err *err) KS_MUST_USE;
bool compare_list(struct api_call *call, struct err *err) KS_MUST_USE;
bool compare_get(struct api_call *call, struct err *err) KS_MUST_USE;
bool compare_series(struct api_call *call, struct err *err) KS_MUST_USE;
bool compare_delete(struct api_call *call, struct err *err) KS_MUST_USE;
/* ranks/collectives.c, ranks/stragglers.c */
bool ranks_collectives_get(struct api_call *call, struct err *err) KS_MUST_USE;
bool ranks_clock_get(struct api_call *call, struct err *err) KS_MUST_USE;
bool ranks_timeline_get(struct api_call *call, struct err *err) KS_MUST_USE;
bool ranks_timeline_window_get(struct api_call *call, struct err *err) KS_MUST_USE;
bool ranks_timeline_search_get(struct api_call *call, struct err *err) KS_MUST_USE;
bool ranks_stragglers_get(struct api_call *call, struct err *err) KS_MUST_USE;
/* history/series.c, history/gate.c */
bool history_get(struct api_call *call, struct err *err) KS_MUST_USE;
bool history_changes_get(struct api_call *call, struct err *err) KS_MUST_USE;
bool history_changes_post(struct api_call *call, struct err *err) KS_MUST_USE;
bool history_baseline_get(struct api_call *call, struct err *err) KS_MUST_USE;
bool history_metrics_get(struct api_call *call, struct err *err) KS_MUST_USE;
bool gate_post(struct api_call *call, struct err *err) KS_MUST_USE;
/* ranks/operations.c */
bool ranks_pipeline_get(struct api_call *call, struct err *err) KS_MUST_USE;
bool ranks_what_if_get(struct api_call *call, struct err *err) KS_MUST_USE;
bool ranks_what_if_timeline_get(struct api_call *call, struct err *err) KS_MUST_USE;
/* jobs_route.c */
bool jobs_route_get(struct api_call *call, struct err *err) KS_MUST_USE;
/* me.c, tokens.c */
bool me_get(struct api_call *call, struct err *err) KS_MUST_USE;
bool tokens_list(struct api_call *call, struct err *err) KS_MUST_USE;
bool reanalyse_post(struct api_call *call, struct err *err) KS_MUST_USE;
bool tokens_post(struct api_call *call, struct err *err) KS_MUST_USE;
bool tokens_delete(struct api_call *call, struct err *err) KS_MUST_USE;
/* service/nodes.c */
bool nodes_list(struct api_call *call, struct err *err) KS_MUST_USE;
/* meta.c */
bool meta_openapi(struct api_call *call, struct err *err) KS_MUST_USE;
bool meta_healthz(struct api_call *call, struct err *err) KS_MUST_USE;
bool meta_readyz(struct api_call *call, struct err *err) KS_MUST_USE;
bool meta_metrics(struct api_call *call, struct err *err) KS_MUST_USE;

#endif
