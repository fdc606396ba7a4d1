/* Notes on windows, kernels and operators; known regressions. */
#include "api/call.h"
#include "api/handlers.h"
#include "api/json_body.h"
#include "ingest/store/store_notes.h"

#include <string.h>

#define NAME_MAX_BYTES ((size_t)8 << 10)
#define TEXT_MAX_BYTES 4000

/* ---- answers ---- */

static void write_note(struct json_write *w, const struct store_note *note)
{
    jw_object_begin(w);
    jw_key_int(w, "id", note->id);
    jw_key_string(w, "run", note->run);
    jw_key(w, "trace");
    jw_known_int(w, note->trace_id == 0 ? INT64_MIN : note->trace_id);
    jw_key_string(w, "kind", store_note_kind_text(note->kind));
    jw_key_string(w, "name", *note->name == '\0' ? NULL : note->name);
    if (note->kind == NOTE_WINDOW) {
        jw_key_int(w, "start_ns", note->start_ns);
        jw_key_int(w, "end_ns", note->end_ns);
    }
    jw_key_string(w, "text", note->text);
    jw_key_string(w, "author", *note->author == '\0' ? NULL : note->author);
    jw_key_int(w, "created_at_s", note->created_at_s);
    jw_object_end(w);
}

static void answer_notes(struct api_call *call, const struct store_note *notes, size_t count)
{
    struct json_write w = call_json(call, false);
    jw_object_begin(&w);
    jw_key_array_begin(&w, "notes");
    for (size_t i = 0; i < count; i++) {
        write_note(&w, &notes[i]);
    }
    jw_array_end(&w);
    jw_object_end(&w);
}

bool notes_of_run(struct api_call *call, struct err *err)
{
    struct store_note *notes = NULL;
    size_t count = 0;
    if (!store_notes_of_run(call->snapshot, call_arena(call), call->params[0], &notes, &count,
                            err)) {
        return false;
    }
    answer_notes(call, notes, count);
    return true;
}

bool notes_of_trace(struct api_call *call, struct err *err)
{
    int64_t id = 0;
    struct store_note *notes = NULL;
    size_t count = 0;
    if (!call_id(call, "trace", &id, err) ||
        !store_notes_of_trace(call->snapshot, call_arena(call), id, &notes, &count, err)) {
        return false;
    }
    answer_notes(call, notes, count);
    return true;
}

/* ---- a new one ---- */

static bool read_kind(const json_t *value, enum store_note_kind *kind, struct err *err)
{
    const char *word = json_string_value(value);
    for (int i = 0; word != NULL && i < NOTE_KIND_COUNT; i++) {
        if (strcmp(word, store_note_kind_text((enum store_note_kind)i)) == 0) {
            *kind = (enum store_note_kind)i;
            return true;
        }
    }
    return err_set(err, ERR_BAD_REQUEST,
                   "\"kind\" must be \"window\", \"kernel\", \"operator\" or \"regression\"");
}

/* Leaves the number as it is where there is none. */
static bool read_int(const json_t *body, const char *name, int64_t *value, struct err *err)
{
    const json_t *member = json_object_get(body, name);
    if (member == NULL || json_is_null(member)) {
        return true;
    }
    *value = json_integer_value(member);
    return json_is_integer(member) ||
           err_set(err, ERR_BAD_REQUEST, "\"%s\" must be an integer", name);
}

/* A window has a trace and two times; everything else a name. */
static bool
read_place(struct api_call *call, const json_t *body, struct store_note *note, struct err *err)
{
    const json_t *name = json_object_get(body, "name");
    bool is_window = note->kind == NOTE_WINDOW;
    if (is_window &&
        (note->trace_id == 0 || note->start_ns < 0 || note->end_ns <= note->start_ns)) {
        return err_set(err, ERR_BAD_REQUEST,
                       "a window needs \"trace\", \"start_ns\" and a later \"end_ns\"");
    }
    if (is_window ? name != NULL
                  : json_object_get(body, "start_ns") != NULL ||
                        json_object_get(body, "end_ns") != NULL) {
        return err_set(err, ERR_BAD_REQUEST,
                       "a window has times and no name; every other note has a name and no times");
    }
    if (note->kind == NOTE_REGRESSION && note->trace_id != 0) {
        return err_set(err, ERR_BAD_REQUEST, "a regression is of a run, not of a trace");
    }
    note->name = "";
    return is_window ||
           json_body_text(name, "name", NAME_MAX_BYTES, call_arena(call), &note->name, err);
}

static bool read_note(struct api_call *call, json_t *body, struct store_note *note, struct err *err)
{
    static const char *const known[] = {"kind",   "trace", "name", "start_ns",
                                        "end_ns", "text",  NULL};
    const struct api_subject *subject = call->request->subject;
    *note = (struct store_note){.run = call->params[0],
                                .author =
                                    subject == NULL || subject->name == NULL ? "" : subject->name};
    return json_body_knows(body, known, err) &&
           read_kind(json_object_get(body, "kind"), &note->kind, err) &&
           read_int(body, "trace", &note->trace_id, err) &&
           read_int(body, "start_ns", &note->start_ns, err) &&
           read_int(body, "end_ns", &note->end_ns, err) && read_place(call, body, note, err) &&
           json_body_text(json_object_get(body, "text"), "text", TEXT_MAX_BYTES, call_arena(call),
                          &note->text, err);
}

bool notes_post(struct api_call *call, struct err *err)
{
    struct store_note note;
    json_t *body = json_body_read(call->request, err);
    bool ok = body != NULL && read_note(call, body, &note, err) &&
              store_note_add(call->api->store, &note, err);
    json_decref(body);
    if (ok) {
        struct json_write w = call_json(call, false);
        call->response->status = 201;
        write_note(&w, &note);
    }
    return ok;
}

/* Admins remove any note, others their own: the answer is the author whose notes they are, NULL:
 * any. One without a name has none, because the notes of all such authors look alike. */
static bool read_remover(const struct api_subject *subject, const char **author, struct err *err)
{
    *author = NULL;
    if (subject == NULL || subject->role == ACCESS_ROLE_ADMIN) {
        return true;
    }
    *author = subject->name;
    return subject->name != NULL ||
           err_set(err, ERR_FORBIDDEN, "The author of a note or an admin may remove it");
}

bool notes_delete(struct api_call *call, struct err *err)
{
    const char *author = NULL;
    int64_t id = 0;
    if (!call_id_at(call, 1, "note", &id, err) ||
        !read_remover(call->request->subject, &author, err) ||
        !store_note_delete(call->api->store, call->params[0], id, author, err)) {
        return false;
    }
    call->response->status = 204;
    return true;
}
