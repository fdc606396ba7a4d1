#include "ingest/analysis/cycles/names.h"

#include "ingest/base/memory/scratch.h"
#include "ingest/base/text/affix.h"

#include <stdio.h>
#include <string.h>

/* ---- tests on texts ---- */

/* `decode` or `Decode` that no small letter follows: decode_step, but not DecoderLayer. */
static bool has_decode_word(const char *text)
{
    static const char REST[] = "ecode";
    for (; *text != '\0'; text++) {
        if ((*text == 'd' || *text == 'D') && text_begins(text + 1, REST)) {
            char after = text[sizeof REST];
            if (after < 'a' || after > 'z') {
                return true;
            }
        }
    }
    return false;
}

/* ---- flags ---- */

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

static uint32_t function_flags(const char *text)
{
    static const char *const disk_calls[] = {"read", "readv", "write"};
    uint32_t flags = 0;
    flags |= text_holds_any_case(text, "nccl") ? CYCLE_NAME_NCCL : 0;
    flags |= text_begins(text, "Memcpy") ? CYCLE_NAME_MEMCPY : 0;
    flags |= text_begins(text, "Memset") ? CYCLE_NAME_MEMSET : 0;
    flags |= strstr(text, "DtoH") != NULL ? CYCLE_NAME_DTOH : 0;
    flags |= strstr(text, "DtoD") != NULL ? CYCLE_NAME_DTOD : 0;
    flags |= strcmp(text, "cudaStreamSynchronize") == 0 ? CYCLE_NAME_RUNTIME_SYNC : 0;
    flags |= strcmp(text, "cuStreamSynchronize") == 0 ? CYCLE_NAME_DRIVER_SYNC : 0;
    flags |= strcmp(text, "cuLaunchKernelEx") == 0 ? CYCLE_NAME_LAUNCH_EX : 0;
    flags |= strcmp(text, "runq") == 0 ? CYCLE_NAME_RUNQ : 0;
    flags |= text_begins_any_case(text, "oncpu") ? CYCLE_NAME_ONCPU : 0;
    flags |= TEXT_IS_ONE_OF(text, disk_calls) ? CYCLE_NAME_DISK : 0;
    bool is_memory_call = text_is_any_case(text, "mmap") || text_is_any_case(text, "mprotect") ||
                          text_is_any_case(text, "munmap");
    return flags | (is_memory_call ? CYCLE_NAME_SYSCALL_MEM : 0);
}

static uint32_t word_flags(const char *text)
{
    uint32_t flags = 0;
    flags |= text_holds_any_case(text, "forward_extend") ? CYCLE_NAME_PREFILL : 0;
    if (strcmp(text, "decode") == 0) {
        flags |= CYCLE_NAME_JUST_DECODE;
    } else if (has_decode_word(text)) {
        flags |= CYCLE_NAME_DECODE;
    }
    return flags | (text_is_any_case(text, "encode") ? CYCLE_NAME_ENCODE : 0);
}

static uint32_t anchor_flags(const char *text)
{
    static const char *const waiting[] = {"_call_impl", "Event.wait", "Condition.wait",
                                          "Scheduler.recv_requests"};
    uint32_t flags = 0;
    flags |= TEXT_IS_ONE_OF(text, waiting) ? CYCLE_NAME_NEVER_ANCHOR : 0;
    bool is_collective =
        text_begins(text, "nccl:") || text_begins(text, "gloo:") || text_begins(text, "cncl:");
    return flags | (is_collective ? CYCLE_NAME_COLLECTIVE : 0);
}

uint32_t cycle_names_look(struct cycle_names *names, uint32_t name)
{
    const char *text = strtab_text(names->trace->strings, name);
    names->flags[name] =
        CYCLE_NAME_KNOWN | function_flags(text) | word_flags(text) | anchor_flags(text);
    return names->flags[name];
}

static uint8_t category_flags(const char *text)
{
    static const struct {
        const char *text;
        uint8_t flags;
    } known[] = {
        {"CAT_APP", CYCLE_CATEGORY_APP},         {"CAT_DISK", CYCLE_CATEGORY_DISK},
        {"CAT_XPU", CYCLE_CATEGORY_XPU},         {"CAT_CPU", CYCLE_CATEGORY_NUMBERED},
        {"CAT_MEMORY", CYCLE_CATEGORY_NUMBERED}, {"CAT_PROCESS", CYCLE_CATEGORY_NUMBERED},
    };
    for (size_t i = 0; i < COUNT_OF(known); i++) {
        if (strcmp(text, known[i].text) == 0) {
            return known[i].flags;
        }
    }
    return 0;
}

bool cycle_names_init(struct cycle_names *names, const struct trace *trace)
{
    *names = (struct cycle_names){.trace = trace};
    names->flags = scratch_calloc(strtab_count(trace->strings), sizeof *names->flags);
    names->category_flags = scratch_calloc(trace->category_count, sizeof *names->category_flags);
    if (names->flags == NULL || names->category_flags == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < trace->category_count; i++) {
        names->category_flags[i] =
            category_flags(strtab_text(trace->strings, trace->categories[i]));
    }
    return true;
}

void cycle_names_free(struct cycle_names *names)
{
    SCRATCH_FREE(names->flags, names->category_flags);
    *names = (struct cycle_names){0};
}

/* ---- short names ---- */

/* `ncclDevKernel_` and the word characters behind it. */
static const char *simple_collective(const char *name, char *out, size_t cap)
{
    static const char PREFIX[] = "ncclDevKernel_";
    const char *begin = strstr(name, PREFIX);
    if (begin == NULL) {
        return "nccl_kernel";
    }
    size_t len = sizeof PREFIX - 1;
    while (text_is_word(begin[len])) {
        len++;
    }
    (void)snprintf(out, cap, "%.*s", (int)(len < cap ? len : cap), begin);
    return out;
}

const char *cycle_simple_name(const char *name, char *out, size_t cap)
{
    static const struct {
        const char *prefix;
        const char *simple;
    } rules[] = {
        {"void at::native::elementwise_kernel", "at::native::elementwise_kernel"},
        {"void at::native::unrolled_elementwise_kernel", "at::native::unrolled_elementwise_kernel"},
        {"void at::native::vectorized_elementwise_kernel",
         "at.native.vectorized_elementwise_kernel"},
        {"void pytorch_flash::flash_fwd_kernel", "pytorch_flash::flash_fwd_kernel"},
        {"ampere_bf16_s16816gemm", "ampere_bf16_gemm"},
        {"triton_", "triton_kernel"},
    };
    for (size_t i = 0; i < COUNT_OF(rules); i++) {
        if (text_begins(name, rules[i].prefix)) {
            return rules[i].simple;
        }
    }
    return strstr(name, "ncclDevKernel") != NULL ? simple_collective(name, out, cap) : name;
}
