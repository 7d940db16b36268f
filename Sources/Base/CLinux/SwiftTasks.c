#include "CLinux.h"

/* Hooks of the Swift runtime for programs with their own threads (swift/Runtime/Concurrency.h). Without a hook, jobs go to libdispatch,
 * which ends the process when it cannot open a descriptor: for its first job, and whenever it checks its threads. */
#define SWIFT __attribute__((swiftcall))

typedef SWIFT void (*enqueue_original)(void *job);
extern SWIFT void (*swift_task_enqueueGlobal_hook)(void *job, enqueue_original original);
SWIFT void swift_job_run(void *job, void *executor, void *executor_kind);

static void (*submit_job)(void *job);

static SWIFT void enqueue(void *job, enqueue_original original) {
    (void)original;
    submit_job(job);
}

void linux_take_swift_tasks(void (*submit)(void *job)) {
    submit_job = submit;
    swift_task_enqueueGlobal_hook = enqueue;
}

void linux_run_swift_job(void *job) { swift_job_run(job, NULL, NULL); }
