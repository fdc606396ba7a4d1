/* Pinned notes: of which run, trace and metric they are, who removes them, and their bounds. */
#include "ingest/base/text/buf.h"
#include "ingest/store/internal.h"
#include "ingest/store/store_notes.h"
#include "tests/unit/ingest/store/store_fixture.h"

static struct store_note kernel_note(const char *run, int64_t trace_id, const char *text)
{
    return (struct store_note){.run = run,
                               .trace_id = trace_id,
                               .kind = NOTE_KERNEL,
                               .name = "gemm",
                               .text = text,
                               .author = "ann"};
}

static void add(struct fixture *f, struct store_note *note)
{
    assert_ok(f, store_note_add(f->store, note, &f->err));
}

/* The texts of the notes, a comma behind each. */
static const char *texts(struct fixture *f, const struct store_note *notes, size_t count)
{
    struct buf all;
    buf_init(&all, 4096);
    for (size_t i = 0; i < count; i++) {
        buf_printf(&all, "%s,", notes[i].text);
    }
    const char *copy = arena_strndup(&f->arena, all.len == 0 ? "" : all.ptr, all.len);
    assert_non_null(copy);
    buf_free(&all);
    return copy;
}

static const char *of_run(struct fixture *f, const char *run)
{
    struct store_note *notes = NULL;
    size_t count = 0;
    assert_ok(f, READ(f->store, store_notes_of_run, &f->arena, run, &notes, &count, &f->err));
    return texts(f, notes, count);
}

static const char *of_trace(struct fixture *f, int64_t trace_id)
{
    struct store_note *notes = NULL;
    size_t count = 0;
    assert_ok(f,
              READ(f->store, store_notes_of_trace, &f->arena, trace_id, &notes, &count, &f->err));
    return texts(f, notes, count);
}

static void a_trace_has_its_own_and_those_of_its_run(void **state)
{
    struct fixture *f = *state;
    struct store_note *notes = NULL;
    size_t count = 0;
    int64_t first = add_trace(f, "a", "w.1.pt.trace.json", "w", "1", "one");
    int64_t second = add_trace(f, "a", "v.1.pt.trace.json", "v", "1", "two");
    int64_t other = add_trace(f, "b", "w.1.pt.trace.json", "w", "1", "three");
    struct store_note whole = kernel_note("a", 0, "whole");
    struct store_note window = {.run = "a",
                                .trace_id = first,
                                .kind = NOTE_WINDOW,
                                .name = "",
                                .start_ns = 5,
                                .end_ns = 9,
                                .text = "window",
                                .author = ""};
    struct store_note of_second = kernel_note("a", second, "second");
    add(f, &whole);
    add(f, &window);
    add(f, &of_second);
    assert_true(whole.id > 0 && window.id > whole.id && whole.created_at_s > 0);
    assert_string_equal(of_run(f, "a"), "whole,window,second,");
    assert_string_equal(of_run(f, "b"), "");
    assert_string_equal(of_trace(f, first), "whole,window,");
    assert_string_equal(of_trace(f, second), "whole,second,");
    assert_string_equal(of_trace(f, other), "");
    assert_ok(f, READ(f->store, store_notes_of_trace, &f->arena, first, &notes, &count, &f->err));
    assert_int_equal(notes[1].kind, NOTE_WINDOW);
    assert_int_equal(notes[1].trace_id, first);
    assert_true(notes[1].start_ns == 5 && notes[1].end_ns == 9);
    assert_string_equal(notes[1].run, "a");
    assert_string_equal(notes[1].author, "");
    assert_string_equal(notes[0].author, "ann");
}

static void what_is_not_there_takes_no_note(void **state)
{
    struct fixture *f = *state;
    struct store_note *notes = NULL;
    size_t count = 0;
    int64_t other = add_trace(f, "b", "w.1.pt.trace.json", "w", "1", "one");
    (void)add_trace(f, "a", "w.1.pt.trace.json", "w", "1", "two");
    struct store_note no_run = kernel_note("none", 0, "x");
    struct store_note not_its = kernel_note("a", other, "x");
    assert_fails(f, store_note_add(f->store, &no_run, &f->err), ERR_NOT_FOUND);
    assert_fails(f, store_note_add(f->store, &not_its, &f->err), ERR_NOT_FOUND);
    assert_fails(f, READ(f->store, store_notes_of_run, &f->arena, "none", &notes, &count, &f->err),
                 ERR_NOT_FOUND);
    assert_fails(f, READ(f->store, store_notes_of_trace, &f->arena, 99, &notes, &count, &f->err),
                 ERR_NOT_FOUND);
    assert_string_equal(of_run(f, "a"), "");
}

static void a_metric_has_the_known_regressions_of_all_runs(void **state)
{
    struct fixture *f = *state;
    struct store_note *notes = NULL;
    size_t count = 0;
    static const char *const runs[] = {"a", "b", "a"};
    (void)add_trace(f, "a", "w.1.pt.trace.json", "w", "1", "one");
    (void)add_trace(f, "b", "w.1.pt.trace.json", "w", "1", "two");
    static const char *const said[] = {"first", "second", "third"};
    for (size_t i = 0; i < 3; i++) {
        struct store_note note = {.run = runs[i],
                                  .kind = NOTE_REGRESSION,
                                  .name = i == 1 ? "busy" : "step_time",
                                  .text = said[i],
                                  .author = ""};
        add(f, &note);
    }
    struct store_note kernel = kernel_note("a", 0, "no regression");
    kernel.name = "step_time";
    add(f, &kernel);
    assert_ok(
        f, READ(f->store, store_notes_of_metric, &f->arena, "step_time", &notes, &count, &f->err));
    assert_string_equal(texts(f, notes, count), "first,third,");
}

static void an_author_removes_its_own(void **state)
{
    struct fixture *f = *state;
    (void)add_trace(f, "a", "w.1.pt.trace.json", "w", "1", "one");
    (void)add_trace(f, "b", "w.1.pt.trace.json", "w", "1", "two");
    struct store_note mine = kernel_note("a", 0, "mine");
    struct store_note nobodys = kernel_note("a", 0, "nobodys");
    nobodys.author = "";
    add(f, &mine);
    add(f, &nobodys);
    assert_fails(f, store_note_delete(f->store, "b", mine.id, NULL, &f->err), ERR_NOT_FOUND);
    assert_fails(f, store_note_delete(f->store, "a", mine.id, "bob", &f->err), ERR_FORBIDDEN);
    assert_fails(f, store_note_delete(f->store, "a", nobodys.id, "ann", &f->err), ERR_FORBIDDEN);
    assert_string_equal(of_run(f, "a"), "mine,nobodys,");
    assert_ok(f, store_note_delete(f->store, "a", mine.id, "ann", &f->err));
    assert_ok(f, store_note_delete(f->store, "a", nobodys.id, NULL, &f->err));
    assert_fails(f, store_note_delete(f->store, "a", mine.id, NULL, &f->err), ERR_NOT_FOUND);
    assert_string_equal(of_run(f, "a"), "");
}

static void notes_go_with_their_run_and_outlive_the_process(void **state)
{
    struct fixture *f = *state;
    (void)add_trace(f, "a", "w.1.pt.trace.json", "w", "1", "one");
    struct store_note note = kernel_note("a", 0, "stays");
    add(f, &note);
    close_store(f);
    open_store(f);
    assert_string_equal(of_run(f, "a"), "stays,");
    assert_ok(f, store_run_delete(f->store, "a", &f->err));
    (void)add_trace(f, "a", "w.1.pt.trace.json", "w", "1", "two");
    assert_string_equal(of_run(f, "a"), "");
}

static void a_run_has_so_many_and_no_more(void **state)
{
    static const char many[] =
        "WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 998)"
        " INSERT INTO pinned_note (run_id, trace_id, kind, name, start_ns, end_ns, text, author,"
        " created_at_s) SELECT run_id, trace_id, kind, name, start_ns, end_ns, text, author,"
        " created_at_s FROM n, pinned_note WHERE id = 1";
    struct fixture *f = *state;
    (void)add_trace(f, "a", "w.1.pt.trace.json", "w", "1", "one");
    struct store_note note = kernel_note("a", 0, "n");
    add(f, &note);
    assert_ok(f, store_write_begin(f->store, STORE_DURABLE, &f->err));
    assert_ok(f, store_write_end(f->store, db_exec(f->store->writer, many, &f->err), &f->err));
    add(f, &note); /* the thousandth */
    assert_fails(f, store_note_add(f->store, &note, &f->err), ERR_CONFLICT);
    assert_ok(f, store_note_delete(f->store, "a", note.id, NULL, &f->err));
    add(f, &note);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_trace_has_its_own_and_those_of_its_run, set_up_store,
                                        tear_down_store),
        cmocka_unit_test_setup_teardown(what_is_not_there_takes_no_note, set_up_store,
                                        tear_down_store),
        cmocka_unit_test_setup_teardown(a_metric_has_the_known_regressions_of_all_runs,
                                        set_up_store, tear_down_store),
        cmocka_unit_test_setup_teardown(an_author_removes_its_own, set_up_store, tear_down_store),
        cmocka_unit_test_setup_teardown(notes_go_with_their_run_and_outlive_the_process,
                                        set_up_store, tear_down_store),
        cmocka_unit_test_setup_teardown(a_run_has_so_many_and_no_more, set_up_store,
                                        tear_down_store),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
