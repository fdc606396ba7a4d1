#include "ingest/jobs/queue/background.h"

#ifdef __linux__
#include <sys/resource.h>

#define NICE_STEPS 5

/* Linux takes the 0 for the thread, where POSIX has the process. */
void background_begin(void)
{
    (void)setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + NICE_STEPS);
}
#else
void background_begin(void)
{
}
#endif
