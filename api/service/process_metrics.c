#include "api/service/process_metrics.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINE_BYTES 1024

static void metric(struct buf *out, const char *name, const char *type, const char *help)
{
    buf_printf(out, "# HELP process_%s %s\n# TYPE process_%s %s\nprocess_%s ", name, help, name,
               type, name);
}

static bool read_line(const char *path, char line[LINE_BYTES])
{
    FILE *file = fopen(path, "r");
    bool ok = file != NULL && fgets(line, LINE_BYTES, file) != NULL;
    if (file != NULL) {
        (void)fclose(file);
    }
    return ok;
}

/* The number `skip` words behind `text`. */
static uint64_t number_behind(const char *text, unsigned skip)
{
    while (skip > 0 && *text != '\0') {
        skip -= *text++ == ' ';
    }
    return strtoull(text, NULL, 10);
}

static void put_memory(struct buf *out)
{
    char line[LINE_BYTES];
    long page_bytes = sysconf(_SC_PAGESIZE);
    if (page_bytes > 0 && read_line("/proc/self/statm", line)) {
        metric(out, "resident_memory_bytes", "gauge", "Resident memory.");
        buf_printf(out, "%" PRIu64 "\n", number_behind(line, 1) * (uint64_t)page_bytes);
    }
}

/* The start counts from the boot, whose time stands in /proc/stat. */
static uint64_t boot_time_s(void)
{
    char line[LINE_BYTES];
    uint64_t found = 0;
    FILE *file = fopen("/proc/stat", "r");
    if (file == NULL) {
        return 0;
    }
    while (found == 0 && fgets(line, sizeof line, file) != NULL) {
        found = strncmp(line, "btime ", 6) == 0 ? number_behind(line, 1) : 0;
    }
    (void)fclose(file);
    return found;
}

static void put_start(struct buf *out)
{
    /* In the line of /proc/self/stat, counted behind the program's name in brackets. */
    const unsigned start_word = 20;
    char line[LINE_BYTES];
    long ticks_a_second = sysconf(_SC_CLK_TCK);
    uint64_t boot_s = boot_time_s();
    if (boot_s == 0 || ticks_a_second <= 0 || !read_line("/proc/self/stat", line)) {
        return;
    }
    const char *behind_name = strrchr(line, ')');
    if (behind_name != NULL) {
        metric(out, "start_time_seconds", "gauge", "When the process started, since 1970.");
        buf_printf(out, "%" PRIu64 "\n",
                   boot_s + number_behind(behind_name, start_word) / (uint64_t)ticks_a_second);
    }
}

static void put_processor_time(struct buf *out)
{
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) != 0) {
        return;
    }
    int64_t us = (int64_t)usage.ru_utime.tv_usec + (int64_t)usage.ru_stime.tv_usec;
    int64_t seconds =
        (int64_t)usage.ru_utime.tv_sec + (int64_t)usage.ru_stime.tv_sec + us / 1000000;
    metric(out, "cpu_seconds_total", "counter", "Processor time, user and system.");
    buf_printf(out, "%" PRId64 ".%06" PRId64 "\n", seconds, us % 1000000);
}

static void put_files(struct buf *out)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
        metric(out, "max_fds", "gauge", "The largest number of open files.");
        buf_printf(out, "%" PRIu64 "\n", (uint64_t)limit.rlim_cur);
    }
    DIR *files = opendir("/proc/self/fd");
    if (files == NULL) {
        return;
    }
    uint64_t count = 0;
    for (const struct dirent *entry = readdir(files); entry != NULL; entry = readdir(files)) {
        count += entry->d_name[0] != '.';
    }
    (void)closedir(files);
    metric(out, "open_fds", "gauge", "Open files and connections.");
    buf_printf(out, "%" PRIu64 "\n", count - 1); /* the directory itself was one */
}

void process_metrics_put(struct buf *out)
{
    put_processor_time(out);
    put_start(out);
    put_memory(out);
    put_files(out);
}
