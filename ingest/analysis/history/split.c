#include "ingest/analysis/history/split.h"

#include "ingest/analysis/util/stat_tests.h"
#include "ingest/base/memory/scratch.h"

#include <math.h>
#include <string.h>

/* Of the range of a piece: such differences of Q do not count. */
#define TIE 1e-9

/* A part of the window between two cuts, with its best split. Indices are those of the series. */
struct window_piece {
    size_t first, end;
    size_t cut;
    double largest_q;
    double tolerance;
};

double split_test_p(const struct piece *left, const struct piece *right)
{
    if (left->count + right->count <= 2) {
        return 1;
    }
    double n = (double)left->count;
    double m = (double)right->count;
    double freedom = n + m - 2;
    double pooled = ((n - 1) * left->scaled_variance + (m - 1) * right->scaled_variance) / freedom;
    double difference = left->scaled_mean - right->scaled_mean;
    double error = sqrt(pooled * (1 / n + 1 / m));
    if (error == 0) {
        return difference == 0 ? 1 : 0;
    }
    return stat_student_p(difference / error, freedom);
}

bool splitter_init(struct splitter *splitter, const struct prefix_sums *sums, size_t window)
{
    size_t room = (window < sums->count ? window : sums->count) + 1;
    *splitter = (struct splitter){.sums = sums,
                                  .scaled = scratch_alloc(room, sizeof *splitter->scaled),
                                  .whole = scratch_alloc(room, sizeof *splitter->whole),
                                  .within = scratch_alloc(room, sizeof *splitter->within),
                                  .largest = scratch_alloc(room, sizeof *splitter->largest),
                                  .pieces = scratch_alloc(room, sizeof *splitter->pieces)};
    return splitter->scaled != NULL && splitter->whole != NULL && splitter->within != NULL &&
           splitter->largest != NULL && splitter->pieces != NULL;
}

void splitter_free(struct splitter *splitter)
{
    SCRATCH_FREE(splitter->scaled, splitter->whole, splitter->within, splitter->largest,
                 splitter->pieces);
    *splitter = (struct splitter){0};
}

static double range_of(const double *z, size_t count)
{
    double low = z[0];
    double high = z[0];
    for (size_t i = 1; i < count; i++) {
        low = fmin(low, z[i]);
        high = fmax(high, z[i]);
    }
    return high - low;
}

static double q_of(size_t left_count, size_t right_count, double left, double right, double whole)
{
    double a = (double)left_count;
    double b = (double)right_count;
    double q = 2 * (whole - left - right) / (a + b);
    if (left_count > 1) {
        q -= 2 * b * left / ((a + b) * (a - 1));
    }
    if (right_count > 1) {
        q -= 2 * a * right / ((a + b) * (b - 1));
    }
    return q;
}

/* The largest Q of each cut of z[0..count). Cuts from the last to the first: the differences from
 * the cut on then grow by those to one value more. */
static void rate_cuts(struct splitter *s, const double *z, size_t count)
{
    s->whole[0] = 0;
    for (size_t end = 1; end <= count; end++) {
        double row = 0;
        for (size_t i = 0; i + 1 < end; i++) {
            row += fabs(z[i] - z[end - 1]);
        }
        s->whole[end] = s->whole[end - 1] + row;
        s->within[end] = 0;
    }
    for (size_t cut = count - 1; cut > 0; cut--) {
        double row = 0;
        double largest = -(double)INFINITY;
        for (size_t end = cut + 1; end <= count; end++) {
            row += fabs(z[cut] - z[end - 1]);
            s->within[end] += row;
            double q = q_of(cut, end - cut, s->whole[cut], s->within[end], s->whole[end]);
            largest = q > largest ? q : largest;
        }
        s->largest[cut] = largest;
    }
}

/* Splits [piece.first, piece.end) of the window whose scaled values begin at `origin`. */
static void split(struct splitter *s, struct window_piece *piece, size_t origin)
{
    const double *z = s->scaled + (piece->first - origin);
    size_t count = piece->end - piece->first;
    piece->cut = 0;
    if (count < 2) {
        return;
    }
    rate_cuts(s, z, count);
    piece->tolerance = TIE * range_of(z, count);
    piece->largest_q = s->largest[1];
    for (size_t cut = 2; cut < count; cut++) {
        piece->largest_q = fmax(piece->largest_q, s->largest[cut]);
    }
    size_t cut = 1;
    while (s->largest[cut] < piece->largest_q - piece->tolerance) {
        cut++;
    }
    piece->cut = piece->first + cut;
}

/* NULL: no piece has two values. */
static struct window_piece *best_of(struct window_piece *pieces, size_t count)
{
    struct window_piece *best = NULL;
    for (size_t i = 0; i < count; i++) {
        if (pieces[i].cut != 0 &&
            (best == NULL || pieces[i].largest_q > best->largest_q + pieces[i].tolerance)) {
            best = &pieces[i];
        }
    }
    return best;
}

size_t
splitter_mark(struct splitter *s, size_t first, size_t end, double level, unsigned char *is_point)
{
    size_t last = 0;
    size_t count = 1;
    for (size_t i = first; i < end; i++) {
        s->scaled[i - first] = ldexp(s->sums->values[i], -s->sums->exponent);
    }
    s->pieces[0] = (struct window_piece){.first = first, .end = end};
    split(s, &s->pieces[0], first);
    for (;;) {
        struct window_piece *best = best_of(s->pieces, count);
        if (best == NULL) {
            return last;
        }
        struct piece left = prefix_piece(s->sums, best->first, best->cut);
        struct piece right = prefix_piece(s->sums, best->cut, best->end);
        if (split_test_p(&left, &right) > level) {
            return last;
        }
        size_t cut = best->cut;
        is_point[cut] = 1;
        last = cut > last ? cut : last;
        size_t behind = count - (size_t)(best - s->pieces);
        memmove(best + 1, best, behind * sizeof *best);
        count++;
        best[0].end = cut;
        best[1].first = cut;
        split(s, &best[0], first);
        split(s, &best[1], first);
    }
}
