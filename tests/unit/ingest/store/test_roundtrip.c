/* Every field of the results comes out of the store as it went in. */
#include "tests/unit/ingest/analysis/row_checks.h"

#define ROWS 3

struct sample {
    struct trace_results results;
    struct step_row steps[ROWS];
    struct operator_row operators[OPERATOR_GROUP_COUNT][ROWS];
    struct kernel_row kernels[ROWS];
    struct kernel_launch_row launches[ROWS];
    struct device_row devices[ROWS];
    struct recommendation_row recommendations[2];
    struct environment_row environment[2];
    struct missing_row missing[2];
    struct uploaded_answer_row uploaded_answers[2];
};

static void fill_steps(struct sample *s, int *n)
{
    static const char *const names[] = {"1", "", NULL};
    for (int i = 0; i < ROWS; i++) {
        struct step_row *row = &s->steps[i];
        row->name = names[i];
        row->start_ns = next_number(n);
        row->end_ns = next_number(n);
        for (int role = 0; role < TIME_CATEGORY_COUNT; role++) {
            row->cost_ns[role] = next_number(n);
        }
        row->computation_ns = next_number(n);
        row->communication_ns = next_number(n);
        row->overlap_ns = next_number(n);
        row->launches = next_number(n);
        row->device_start_ns = i == 0 ? RESULTS_NO_TIME : next_number(n);
        row->device_end_ns = next_number(n);
        row->device_busy_ns = next_number(n);
        row->device_ns = next_number(n);
        row->device_activities = next_number(n);
    }
}

static void fill_operators(struct sample *s, int *n)
{
    static const char *const names[] = {"aten::add", "\xE4\xB8\xAD\xE6\x96\x87 'quoted' \"name\"",
                                        "aten::add"};
    static const char *const shapes[] = {"[[2, 3], []]", NULL, ""};
    static const char *const stacks[] = {NULL, "a.py(1): f\nb.py(2): g", "x"};
    for (int group = 0; group < OPERATOR_GROUP_COUNT; group++) {
        for (int i = 0; i < ROWS; i++) {
            struct operator_row *row = &s->operators[group][i];
            row->name = names[(i + group) % ROWS];
            row->input_shape = shapes[(i + group) % ROWS];
            row->call_stack = stacks[(i + group) % ROWS];
            row->calls = next_number(n);
            row->host_total_ns = next_number(n);
            row->host_self_ns = next_number(n);
            row->device_total_ns = next_number(n);
            row->device_self_ns = next_number(n);
            row->tensor_total_ns = next_number(n);
            row->tensor_self_ns = next_number(n);
            row->tensor_eligible = i == 1;
            row->has_call_stack = i == 1;
            row->host_min_ns = next_number(n);
            row->host_max_ns = next_number(n);
            row->host_p50_ns = next_number(n);
            row->host_p95_ns = next_number(n);
            row->host_p99_ns = next_number(n);
            row->device_p50_ns = next_number(n);
            row->device_p95_ns = next_number(n);
            row->device_p99_ns = next_number(n);
        }
        s->results.operators[group] = s->operators[group];
        s->results.operator_count[group] = (size_t)(group == 2 ? 0 : ROWS);
    }
}

static void fill_kernels(struct sample *s, int *n, int *r)
{
    static const char *const names[] = {"void gemm<float>(...)", "", "k"};
    for (int i = 0; i < ROWS; i++) {
        struct kernel_row *row = &s->kernels[i];
        row->name = names[i];
        row->calls = next_number(n);
        row->total_ns = next_number(n);
        row->min_ns = next_number(n);
        row->max_ns = next_number(n);
        row->p50_ns = next_number(n);
        row->p95_ns = next_number(n);
        row->p99_ns = next_number(n);
        row->tensor_used = i != 0;
        row->blocks_per_sm = next_real(r);
        row->occupancy_pct = next_real(r);
    }
}

static void fill_launches(struct sample *s, int *n, int *r)
{
    static const char *const configs[] = {"[1, 1, 1]", "[256, 1, 1]", "32", "0", NULL, ""};
    for (int i = 0; i < ROWS; i++) {
        struct kernel_launch_row *row = &s->launches[i];
        row->name = "k";
        row->operator_name = i == 0 ? NULL : "aten::mm";
        for (int k = 0; k < 4; k++) {
            row->config[k] = configs[(k + i) % 6];
        }
        row->calls = next_number(n);
        row->total_ns = next_number(n);
        row->min_ns = next_number(n);
        row->max_ns = next_number(n);
        row->p50_ns = next_number(n);
        row->p95_ns = next_number(n);
        row->p99_ns = next_number(n);
        row->tensor_used = i == 1;
        row->op_tensor_eligible = i == 1;
        row->blocks_per_sm = next_real(r);
        row->occupancy_pct = next_real(r);
    }
}

static void fill_devices(struct sample *s, int *n, int *r)
{
    for (int i = 0; i < ROWS; i++) {
        struct device_row *row = &s->devices[i];
        row->id = next_number(n);
        row->name = i == 1 ? NULL : "Tesla V100";
        row->memory_bytes = next_real(r);
        row->capability = i == 0 ? NULL : "8.0";
        row->utilisation = i == 0 ? -0.0 : next_real(r);
        row->sm_efficiency = next_real(r);
        row->occupancy_pct = next_real(r);
        row->tensor_share = next_real(r);
    }
}

static void fill_scalars(struct trace_results *t, int *n)
{
    t->device_type = "GPU";
    t->event_count = next_number(n);
    t->start_ns = next_number(n);
    t->first_event_ns = next_number(n);
    t->duration_ns = next_number(n);
    t->views = UINT32_MAX;
    t->device_ns = next_number(n);
    t->tensor_pie_used = (double)NAN;
    t->warnings.by_code[WARN_TRUNCATED] = (struct warning_count){UINT64_MAX, 0};
    t->warnings.by_code[WARN_OVERLAP] = (struct warning_count){7, WARNING_NO_OFFSET};
    t->warnings.by_code[0] = (struct warning_count){1, (uint64_t)INT64_MAX + 5};
}

static bool *flag_of(struct trace_results *t, int at)
{
    bool *const flags[] = {&t->decimal_times,
                           &t->steps_undefined,
                           &t->has_steps,
                           &t->is_amd,
                           &t->has_runtime,
                           &t->has_kernel,
                           &t->has_communication,
                           &t->has_memcpy_or_memset,
                           &t->has_blocks_per_sm,
                           &t->has_occupancy,
                           &t->operators_have_device,
                           &t->mlu};
    return at < (int)(sizeof flags / sizeof flags[0]) ? flags[at] : NULL;
}

static void fill(struct sample *s)
{
    int n = 0;
    int r = 0;
    struct trace_results *t = &s->results;
    fill_scalars(t, &n);
    fill_steps(s, &n);
    fill_operators(s, &n);
    fill_kernels(s, &n, &r);
    fill_launches(s, &n, &r);
    fill_devices(s, &n, &r);
    s->recommendations[0] =
        (struct recommendation_row){"nccl", "Use NCCL.", "operators?q=a", "https://x", 7};
    s->recommendations[1] = (struct recommendation_row){"memory", "", NULL, NULL, RESULTS_NO_TIME};
    s->environment[0] = (struct environment_row){"Number of Workers", "1"};
    s->environment[1] = (struct environment_row){"Device Type", NULL};
    s->missing[0] = (struct missing_row){"memory", "no record", "profile_memory=True"};
    s->missing[1] = (struct missing_row){"shapes", "none", NULL};
    s->uploaded_answers[0] = (struct uploaded_answer_row){"operation", "Operation", "{\"a\": 1.0}"};
    s->uploaded_answers[1] = (struct uploaded_answer_row){"kernel", "", "[]"};
    t->steps = s->steps;
    t->step_count = ROWS;
    t->kernels = s->kernels;
    t->kernel_count = ROWS;
    t->kernel_launches = s->launches;
    t->kernel_launch_count = ROWS;
    t->devices = s->devices;
    t->device_count = ROWS;
    t->recommendations = s->recommendations;
    t->recommendation_count = 2;
    t->environment = s->environment;
    t->environment_count = 2;
    t->missing = s->missing;
    t->missing_count = 2;
    t->uploaded_answers = s->uploaded_answers;
    t->uploaded_answer_count = 2;
}

static void check_scalars(struct trace_results *a, struct trace_results *b)
{
    TEXT(device_type);
    INT(event_count);
    INT(start_ns);
    INT(first_event_ns);
    INT(duration_ns);
    INT(views);
    REAL(tensor_pie_used);
    INT(step_count);
    INT(kernel_count);
    INT(kernel_launch_count);
    INT(device_count);
    INT(recommendation_count);
    INT(environment_count);
    INT(missing_count);
    INT(uploaded_answer_count);
    for (int i = 0; flag_of(a, i) != NULL; i++) {
        assert_int_equal(*flag_of(a, i), *flag_of(b, i));
    }
    for (int i = 0; i < OPERATOR_GROUP_COUNT; i++) {
        INT(operator_count[i]);
        assert_null(b->operators[i]);
    }
    for (int i = 0; i < WARNING_CODE_COUNT; i++) {
        INT(warnings.by_code[i].count);
        if (a->warnings.by_code[i].count > 0) {
            INT(warnings.by_code[i].first_offset);
        }
    }
}

static void check_steps(const struct step_row *a, const struct step_row *b)
{
    TEXT(name);
    INT(start_ns);
    INT(end_ns);
    for (int role = 0; role < TIME_CATEGORY_COUNT; role++) {
        INT(cost_ns[role]);
    }
    INT(computation_ns);
    INT(communication_ns);
    INT(overlap_ns);
    INT(launches);
    INT(device_start_ns);
    INT(device_end_ns);
    INT(device_busy_ns);
    INT(device_ns);
    INT(device_activities);
}

static void check_device(const struct device_row *a, const struct device_row *b)
{
    INT(id);
    TEXT(name);
    REAL(memory_bytes);
    TEXT(capability);
    REAL(utilisation);
    REAL(sm_efficiency);
    REAL(occupancy_pct);
    REAL(tensor_share);
}

static void check_operator(const struct operator_row *a, const struct operator_row *b)
{
    TEXT(name);
    TEXT(input_shape);
    TEXT(call_stack);
    INT(calls);
    INT(host_total_ns);
    INT(host_self_ns);
    INT(device_total_ns);
    INT(device_self_ns);
    INT(tensor_total_ns);
    INT(tensor_self_ns);
    INT(tensor_eligible);
    INT(has_call_stack);
    INT(host_min_ns);
    INT(host_max_ns);
    INT(host_p50_ns);
    INT(host_p95_ns);
    INT(host_p99_ns);
    INT(device_p50_ns);
    INT(device_p95_ns);
    INT(device_p99_ns);
}

static void check_kernel(const struct kernel_row *a, const struct kernel_row *b)
{
    TEXT(name);
    INT(calls);
    INT(total_ns);
    INT(min_ns);
    INT(max_ns);
    INT(p50_ns);
    INT(p95_ns);
    INT(p99_ns);
    INT(tensor_used);
    REAL(blocks_per_sm);
    REAL(occupancy_pct);
}

static void check_launch(const struct kernel_launch_row *a, const struct kernel_launch_row *b)
{
    TEXT(name);
    TEXT(operator_name);
    for (int k = 0; k < 4; k++) {
        TEXT(config[k]);
    }
    INT(calls);
    INT(total_ns);
    INT(min_ns);
    INT(max_ns);
    INT(p50_ns);
    INT(p95_ns);
    INT(p99_ns);
    INT(tensor_used);
    INT(op_tensor_eligible);
    REAL(blocks_per_sm);
    REAL(occupancy_pct);
}

static void check_overview(struct fixture *f, int64_t id, struct sample *s)
{
    struct trace_results *out;
    assert_ok(f, READ(f->store, store_overview, &f->arena, id, &out, &f->err));
    check_scalars(&s->results, out);
    for (int i = 0; i < ROWS; i++) {
        check_steps(&s->steps[i], &out->steps[i]);
        check_device(&s->devices[i], &out->devices[i]);
    }
    for (int i = 0; i < 2; i++) {
        assert_same_text(s->recommendations[i].code, out->recommendations[i].code);
        assert_same_text(s->recommendations[i].text, out->recommendations[i].text);
        assert_same_text(s->recommendations[i].evidence, out->recommendations[i].evidence);
        assert_same_text(s->recommendations[i].documentation,
                         out->recommendations[i].documentation);
        assert_int_equal(s->recommendations[i].saving_ns, out->recommendations[i].saving_ns);
        assert_same_text(s->environment[i].name, out->environment[i].name);
        assert_same_text(s->environment[i].value, out->environment[i].value);
        assert_same_text(s->missing[i].view, out->missing[i].view);
        assert_same_text(s->missing[i].reason, out->missing[i].reason);
        assert_same_text(s->missing[i].record, out->missing[i].record);
        assert_same_text(s->uploaded_answers[i].route, out->uploaded_answers[i].route);
        assert_same_text(s->uploaded_answers[i].group_by, out->uploaded_answers[i].group_by);
        assert_same_text(s->uploaded_answers[i].json, out->uploaded_answers[i].json);
    }
}

static void check_tables(struct fixture *f, int64_t id, struct sample *s)
{
    struct store_page all = {0};
    struct operator_row *operators;
    struct kernel_row *kernels;
    struct kernel_launch_row *launches;
    size_t count;
    int64_t total;
    for (int group = 0; group < OPERATOR_GROUP_COUNT; group++) {
        assert_ok(f, READ(f->store, store_operators, &f->arena, id, (enum operator_group)group,
                          NULL, NULL, &all, &operators, &count, &total, &f->err));
        assert_int_equal(count, s->results.operator_count[group]);
        assert_int_equal(total, count);
        for (size_t i = 0; i < count; i++) {
            check_operator(&s->operators[group][i], &operators[i]);
        }
    }
    assert_ok(
        f, READ(f->store, store_kernels, &f->arena, id, &all, &kernels, &count, &total, &f->err));
    assert_int_equal(count, ROWS);
    assert_ok(f, READ(f->store, store_kernel_launches, &f->arena, id, &all, &launches, &count,
                      &total, &f->err));
    assert_int_equal(count, ROWS);
    for (int i = 0; i < ROWS; i++) {
        check_kernel(&s->kernels[i], &kernels[i]);
        check_launch(&s->launches[i], &launches[i]);
    }
}

static void every_field_comes_back(void **state)
{
    struct fixture *f = *state;
    struct sample *s = calloc(1, sizeof *s);
    assert_non_null(s);
    fill(s);
    int64_t id = publish(f, add_job(f, "r", "f", "bytes", false), "w", "12", &s->results);
    check_overview(f, id, s);
    check_tables(f, id, s);
    close_store(f);
    open_store(f);
    check_overview(f, id, s);
    check_tables(f, id, s);
    free(s);
}

static void every_flag_is_its_own(void **state)
{
    struct fixture *f = *state;
    for (int i = 0; flag_of(&(struct trace_results){0}, i) != NULL; i++) {
        struct trace_results results = {.device_type = "CPU"};
        struct trace_results *out;
        char name[16];
        *flag_of(&results, i) = true;
        (void)snprintf(name, sizeof name, "f%d", i);
        int64_t id = publish(f, add_job(f, "r", name, name, false), "w", "", &results);
        assert_ok(f, READ(f->store, store_overview, &f->arena, id, &out, &f->err));
        for (int k = 0; flag_of(out, k) != NULL; k++) {
            assert_int_equal(*flag_of(out, k), k == i);
        }
    }
}

static void trace_row_comes_back(void **state)
{
    struct fixture *f = *state;
    struct sample *s = calloc(1, sizeof *s);
    struct store_trace *trace;
    assert_non_null(s);
    fill(s);
    int64_t id =
        publish(f, add_job(f, "r u n", "a.pt.trace.json", "abc", false), "w", "9", &s->results);
    assert_ok(f, READ(f->store, store_trace_get, &f->arena, id, &trace, &f->err));
    assert_int_equal(trace->id, id);
    assert_string_equal(trace->run, "r u n");
    assert_string_equal(trace->worker, "w");
    assert_string_equal(trace->span_digits, "9");
    assert_int_equal(trace->span, 1);
    assert_string_equal(trace->file_name, "a.pt.trace.json");
    assert_string_equal(trace->format, "chrome-trace");
    assert_string_equal(trace->device_type, "GPU");
    assert_true(trace->event_count == s->results.event_count);
    assert_int_equal(trace->step_count, s->results.has_steps ? ROWS : 0);
    assert_true(trace->start_ns == s->results.start_ns);
    assert_true(trace->duration_ns == s->results.duration_ns);
    assert_int_equal(trace->size_bytes, 3);
    assert_string_equal(trace->sha256_hex,
                        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert_true(trace->uploaded_at_s > 1600000000);
    assert_string_equal(trace->note, "");
    assert_string_equal(trace->tags, "[]");
    assert_int_equal(trace->views, UINT32_MAX);
    assert_int_equal(trace->operator_count, ROWS);
    assert_int_equal(trace->kernel_count, ROWS);
    assert_int_equal(trace->warnings.by_code[WARN_OVERLAP].count, 7);
    free(s);
}

static void uploaded_answer_is_found(void **state)
{
    struct fixture *f = *state;
    struct uploaded_answer_row answers[] = {{"operation", "Operation", "1"},
                                            {"operation", "", "2"}};
    struct trace_results results = {
        .device_type = "CPU", .uploaded_answers = answers, .uploaded_answer_count = 2};
    int64_t id = publish(f, add_job(f, "r", "f", "x", false), "w", "", &results);
    const char *json;
    assert_ok(
        f, READ(f->store, store_uploaded_answer, &f->arena, id, "operation", "", &json, &f->err));
    assert_string_equal(json, "2");
    assert_ok(f, READ(f->store, store_uploaded_answer, &f->arena, id, "operation", "Operation",
                      &json, &f->err));
    assert_string_equal(json, "1");
    assert_ok(f,
              READ(f->store, store_uploaded_answer, &f->arena, id, "kernel", "", &json, &f->err));
    assert_null(json);
    assert_fails(
        f, READ(f->store, store_uploaded_answer, &f->arena, id + 1, "kernel", "", &json, &f->err),
        ERR_NOT_FOUND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_field_comes_back, set_up_store, tear_down_store),
        cmocka_unit_test_setup_teardown(every_flag_is_its_own, set_up_store, tear_down_store),
        cmocka_unit_test_setup_teardown(trace_row_comes_back, set_up_store, tear_down_store),
        cmocka_unit_test_setup_teardown(uploaded_answer_is_found, set_up_store, tear_down_store),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
