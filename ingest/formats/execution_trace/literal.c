#include "ingest/formats/execution_trace/literal.h"

static void skip_space(struct literal *literal)
{
    while (literal->at < literal->end && (unsigned char)*literal->at <= ' ') {
        literal->at++;
    }
}

static bool opens(char c)
{
    return c == '[' || c == '(' || c == '{';
}

static bool closes(char c)
{
    return c == ']' || c == ')' || c == '}';
}

bool literal_is_list(struct literal *literal)
{
    skip_space(literal);
    return literal->at < literal->end && (*literal->at == '[' || *literal->at == '(');
}

bool literal_enter(struct literal *literal)
{
    if (!literal_is_list(literal)) {
        return false;
    }
    literal->at++;
    return true;
}

bool literal_item(struct literal *literal)
{
    skip_space(literal);
    if (literal->at < literal->end && *literal->at == ',') {
        literal->at++;
        skip_space(literal);
    }
    if (literal->at < literal->end && closes(*literal->at)) {
        literal->at++;
        return false;
    }
    return literal->at < literal->end;
}

/* Behind the closing quote; `at` is at the opening one. */
static const char *skip_string(const char *at, const char *end)
{
    char quote = *at++;
    while (at < end && *at != quote) {
        at += *at == '\\' && at + 1 < end ? 2 : 1;
    }
    return at < end ? at + 1 : end;
}

static const char *skip_list(const char *at, const char *end)
{
    size_t depth = 0;
    while (at < end) {
        if (*at == '"' || *at == '\'') {
            at = skip_string(at, end);
            continue;
        }
        depth += opens(*at);
        depth -= closes(*at);
        at++;
        if (depth == 0) {
            break;
        }
    }
    return at;
}

struct literal literal_take(struct literal *literal)
{
    skip_space(literal);
    const char *begin = literal->at;
    const char *end = literal->end;
    if (begin == end) {
        return *literal;
    }
    if (*begin == '"' || *begin == '\'') {
        literal->at = skip_string(begin, end);
        bool is_closed = literal->at - begin >= 2 && literal->at[-1] == *begin;
        return (struct literal){.at = begin + 1, .end = is_closed ? literal->at - 1 : literal->at};
    }
    if (opens(*begin)) {
        literal->at = skip_list(begin, end);
    } else {
        /* A stray bracket is a value too, so that every loop goes on. */
        literal->at++;
        while (literal->at < end && *literal->at != ',' && !closes(*literal->at)) {
            literal->at++;
        }
        end = literal->at;
        while (end > begin + 1 && (unsigned char)end[-1] <= ' ') {
            end--;
        }
        return (struct literal){.at = begin, .end = end};
    }
    return (struct literal){.at = begin, .end = literal->at};
}

bool literal_number(struct literal value, uint64_t *number)
{
    *number = 0;
    if (value.at == value.end) {
        return false;
    }
    for (; value.at < value.end && *value.at >= '0' && *value.at <= '9'; value.at++) {
        uint64_t digit = (uint64_t)(*value.at - '0');
        if (*number > (UINT64_MAX - digit) / 10) {
            return false;
        }
        *number = *number * 10 + digit;
    }
    skip_space(&value);
    return value.at == value.end;
}
