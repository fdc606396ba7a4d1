#include "tests/unit/ingest/formats/chrome_json/kineto_fixture.h"

#include <math.h>
#include <stdio.h>

#define OVERVIEW(id)                                                                               \
    "{\"steps\": {\"columns\": [{\"type\": \"string\", \"name\": \"Step\"}, {\"name\": "           \
    "\"Kernel\"}, {\"role\": "                                                                     \
    "\"tooltip\"}, {\"name\": \"CPU Exec\"}], \"rows\": [[\"5\", 30, \"tip\", 12.5], [\"6\", 10, " \
    "\"tip\", 0]]}, "                                                                              \
    "\"performance\": [], \"recommendations\": \"<ul><li>GPU " id                                  \
    " has <b>low utilization</b> &amp; "                                                           \
    "more</li></ul>\", \"environments\": [{\"title\": \"Number of Worker(s)\", \"value\": "        \
    "\"1\"}, "                                                                                     \
    "{\"title\": \"Device Type\", \"value\": \"GPU\"}], \"gpu_metrics\": {\"title\": \"GPU "       \
    "Summary\", "                                                                                  \
    "\"data\": [{\"title\": \"GPU " id                                                             \
    ":\", \"value\": \"\"}, {\"title\": \"Name\", \"value\": \"V100\"}, "                          \
    "{\"title\": \"Memory\", \"value\": \"16.0 GB\"}, {\"title\": \"Compute Capability\", "        \
    "\"value\": "                                                                                  \
    "\"7.0\"}, {\"title\": \"GPU Utilization\", \"value\": \"25.5 %\"}]}}"
#define OPERATORS                                                                               \
    "{\"metadata\": {\"sort\": \"device_self_duration\"}, \"data\": [{\"name\": \"aten::mm\", " \
    "\"calls\": 4, "                                                                            \
    "\"device_self_duration\": 20, \"device_total_duration\": 30, \"host_self_duration\": 1, "  \
    "\"host_total_duration\": 2, \"tc_eligible\": \"Yes\", \"tc_self_ratio\": 50.0, "           \
    "\"tc_total_ratio\": 10.0, \"has_call_stack\": true}]}"
#define KERNELS                                                                                \
    "{\"metadata\": {\"sort\": \"Total Duration (us)\"}, \"data\": {\"columns\": [{\"name\": " \
    "\"Name\"}, {\"name\": "                                                                   \
    "\"Tensor Cores Used\"}, {\"name\": \"Calls\"}, {\"name\": \"Total Duration (us)\"}, "     \
    "{\"name\": "                                                                              \
    "\"Max Duration (us)\"}], \"rows\": [[\"k\", \"Yes\", 3, 40.5, 20]]}}"

static void rows_are_derived(void **state)
{
    struct format_bundle bundle = read_text(OVERVIEW("3") "\n" OPERATORS "\n" KERNELS "\n");
    assert_string_equal(bundle.format, "plugin-json");
    assert_string_equal(bundle.items[0].worker, "GPU 3");
    assert_null(bundle.items[0].model);
    const struct trace_results *results = bundle.items[0].results;
    assert_int_equal(results->step_count, 2);
    assert_string_equal(results->steps[1].name, "6");
    assert_int_equal(results->steps[0].cost_ns[TIME_KERNEL], 30000);
    assert_int_equal(results->steps[0].cost_ns[TIME_CPU_EXEC], 12500);
    assert_int_equal(results->steps[1].start_ns, 42500);
    assert_int_equal(results->duration_ns, 52500);
    assert_true(results->has_steps);
    assert_int_equal(results->device_count, 1);
    const struct device_row *device = &results->devices[0];
    assert_int_equal(device->id, 3);
    assert_string_equal(device->name, "V100");
    assert_true(fabs(device->utilisation - 0.255) < 1e-12);
    assert_string_equal(device->capability, "7.0");
    assert_true(!isnan(device->memory_bytes));
    assert_true(isnan(device->sm_efficiency) && isnan(device->occupancy_pct));
    assert_int_equal(results->recommendation_count, 1);
    assert_string_equal(results->recommendations[0].code, "utilisation");
    assert_string_equal(results->recommendations[0].text, "GPU 3 has low utilization & more");
    assert_int_equal(results->recommendations[0].saving_ns, RESULTS_NO_TIME); /* it tells none */
    assert_int_equal(results->environment_count, 2);
    assert_string_equal(results->device_type, "GPU");
    assert_int_equal(results->operator_count[OPERATOR_BY_NAME], 1);
    const struct operator_row *operator= results->operators[OPERATOR_BY_NAME];
    assert_int_equal(operator->device_total_ns, 30000);
    assert_int_equal(operator->tensor_self_ns, 10000);
    assert_true(operator->tensor_eligible && operator->has_call_stack);
    assert_int_equal(results->kernel_count, 1);
    assert_int_equal(results->kernels[0].total_ns, 40500);
    assert_int_equal(results->kernels[0].max_ns, 20000);
    assert_true(results->kernels[0].tensor_used);
    assert_int_equal(results->views, 1U << VIEW_OVERVIEW | 1U << VIEW_OPERATOR | 1U << VIEW_KERNEL);
    format_bundle_free(&bundle);
}

static void answers_are_kept_word_for_word(void **state)
{
    struct format_bundle bundle = read_text("  " OPERATORS " \r\n\n" KERNELS);
    const struct trace_results *results = bundle.items[0].results;
    assert_null(bundle.items[0].worker);
    assert_int_equal(results->uploaded_answer_count, 2);
    assert_string_equal(results->uploaded_answers[0].route, "operation/table");
    assert_string_equal(results->uploaded_answers[0].group_by, "Operation");
    assert_string_equal(results->uploaded_answers[0].json, OPERATORS);
    assert_string_equal(results->uploaded_answers[1].route, "kernel/table");
    assert_string_equal(results->uploaded_answers[1].group_by, "Kernel");
    assert_string_equal(results->uploaded_answers[1].json, KERNELS);
    format_bundle_free(&bundle);
}

static void workers_are_told_apart(void **state)
{
    static const struct {
        const char *text;
        size_t items;
        const char *workers[3];
    } rows[] = {
        {OVERVIEW("0") "\n" KERNELS "\n" OVERVIEW("2") "\n" OPERATORS, 2, {"GPU 0", "GPU 2"}},
        {KERNELS "\n" OPERATORS "\n" KERNELS, 2, {"worker (1)", "worker (2)"}},
        {OVERVIEW("0") "\n" OVERVIEW("0"), 2, {"GPU 0", "GPU 0 (2)"}},
        {KERNELS "\n" OVERVIEW("1"), 2, {"worker (1)", "GPU 1"}},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct err err = ERR_INIT;
        struct format_bundle bundle;
        assert_true(read_bytes(rows[i].text, strlen(rows[i].text), 64, &bundle, &err));
        assert_int_equal(bundle.item_count, rows[i].items);
        for (size_t k = 0; k < rows[i].items; k++) {
            assert_string_equal(bundle.items[k].worker, rows[i].workers[k]);
        }
        format_bundle_free(&bundle);
    }
}

static void bad_lines_are_left_out(void **state)
{
    struct format_bundle bundle =
        read_text(KERNELS "\n{\"steps\": ?}\nnonsense\n" OPERATORS "\n{\"other\": 1}");
    const struct trace_results *results = bundle.items[0].results;
    assert_int_equal(results->uploaded_answer_count, 2);
    assert_int_equal(results->warnings.by_code[WARN_BAD_LINE].count, 3);
    assert_int_equal(results->warnings.by_code[WARN_BAD_LINE].first_offset, sizeof KERNELS);
    format_bundle_free(&bundle);

    struct err err = ERR_INIT;
    static const char bad[] = "\n\n{\"total\": {\"rows\": ?}}\n";
    assert_false(read_bytes(bad, sizeof bad - 1, 0, &bundle, &err));
    assert_non_null(strstr(err.msg, "line 3"));
    assert_int_equal(err.code, ERR_UNSUPPORTED);
}

static char *read_file(const char *path, size_t *len)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        return NULL;
    }
    char *bytes = NULL;
    *len = 0;
    size_t got;
    do {
        bytes = realloc(bytes, *len + 65536);
        assert_non_null(bytes);
        got = fread(bytes + *len, 1, 65536, file);
        *len += got;
    } while (got > 0);
    (void)fclose(file);
    return bytes;
}

static void the_seed_document_is_read(void **state)
{
    char path[4096];
    const char *reference = getenv("KINETOSCOPE_REFERENCE");
    (void)snprintf(path, sizeof path, "%s/seeds/003_e0954df1c8df0a17.txt",
                   reference != NULL ? reference : KS_TEST_DIR "/../../shared");
    size_t len;
    char *text = read_file(path, &len);
    if (text == NULL) {
        print_message("%s is not there: set KINETOSCOPE_REFERENCE\n", path);
        skip();
        return;
    }
    struct err err = ERR_INIT;
    struct format_bundle bundle;
    assert_true(read_bytes(text, len, 0, &bundle, &err));
    assert_int_equal(bundle.item_count, 2);
    assert_string_equal(bundle.items[0].worker, "MLU 0");
    assert_string_equal(bundle.items[1].worker, "MLU 2");
    const char *line = text;
    for (size_t i = 0; i < 2; i++) {
        const struct trace_results *results = bundle.items[i].results;
        assert_true(results->mlu);
        assert_string_equal(results->device_type, "MLU");
        assert_int_equal(results->uploaded_answer_count, 5);
        for (size_t k = 0; k < 5; k++) {
            const char *json = results->uploaded_answers[k].json;
            assert_int_equal(strncmp(line, json, strlen(json)), 0);
            line += strlen(json) + 1;
        }
        assert_true(results->operator_count[OPERATOR_BY_NAME] > 90);
        assert_true(results->kernel_count > 60);
        assert_int_equal(results->step_count, 1);
        assert_int_equal(results->recommendation_count, i == 0 ? 1 : 0); /* N/A is none */
    }
    const struct trace_results *first = bundle.items[0].results;
    assert_string_equal(first->recommendations[0].code, "utilisation");
    assert_int_equal(first->steps[0].cost_ns[TIME_KERNEL], 576891000);
    assert_int_equal(first->duration_ns, 6286787000);
    assert_false(first->has_steps);
    assert_int_equal(first->role_ns[TIME_RUNTIME], 4826274000);
    assert_int_equal(first->role_ns[TIME_COMMUNICATION], 9843000);
    assert_true(fabs(first->devices[0].utilisation - 0.0918) < 1e-12);
    assert_int_equal(first->operators[OPERATOR_BY_NAME][0].device_self_ns, 145962000);
    format_bundle_free(&bundle);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_derived),
        cmocka_unit_test(answers_are_kept_word_for_word),
        cmocka_unit_test(workers_are_told_apart),
        cmocka_unit_test(bad_lines_are_left_out),
        cmocka_unit_test(the_seed_document_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
