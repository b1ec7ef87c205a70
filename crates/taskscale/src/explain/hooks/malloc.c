// Preloaded into a program: counts the live blocks of glibc's malloc by size, in a file that taskscale reads.
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);
void __libc_free(void *);

// By usable size, which is known again when a block is freed; glibc has one for each 16 bytes. The last class has all
// blocks of 4 KiB or more, which are mostly tables.
#define STEP 16
#define CLASSES 257
static struct counts {
    atomic_long blocks[CLASSES], usable[CLASSES], requested[CLASSES];
} until_opened, *counts = &until_opened;

// A block that was mapped by itself is no part of a heap: its mapping shows it.
static int is_mapped(void *block) { return ((size_t *)block)[-1] & 2; }

static size_t class_of(size_t usable) { return usable / STEP < CLASSES - 1 ? usable / STEP : CLASSES - 1; }

static void add(atomic_long *count, long by) { atomic_fetch_add_explicit(count, by, memory_order_relaxed); }

static void *taken(void *block, size_t size) {
    if (block && !is_mapped(block)) {
        size_t usable = malloc_usable_size(block), class = class_of(usable);
        add(&counts->blocks[class], 1);
        add(&counts->usable[class], usable);
        add(&counts->requested[class], size);
    }
    return block;
}

// What was requested of a block is not kept with it, which would make it larger: the mean of its class is taken.
static void given_back(void *block) {
    if (!block || is_mapped(block)) return;
    size_t usable = malloc_usable_size(block), class = class_of(usable);
    long number = atomic_load_explicit(&counts->blocks[class], memory_order_relaxed);
    long bytes = atomic_load_explicit(&counts->requested[class], memory_order_relaxed);
    add(&counts->requested[class], number > 0 ? -(bytes / number) : 0);
    add(&counts->usable[class], -(long)usable);
    add(&counts->blocks[class], -1);
}

void *malloc(size_t size) { return taken(__libc_malloc(size), size); }

void *calloc(size_t count, size_t size) { return taken(__libc_calloc(count, size), count * size); }

void *realloc(void *block, size_t size) {
    given_back(block);
    void *moved = __libc_realloc(block, size);
    // What could not grow is still there.
    if (!moved && size && block) taken(block, malloc_usable_size(block));
    return taken(moved, size);
}

void free(void *block) {
    given_back(block);
    __libc_free(block);
}

void *memalign(size_t alignment, size_t size) { return taken(__libc_memalign(alignment, size), size); }

void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

int posix_memalign(void **block, size_t alignment, size_t size) {
    *block = memalign(alignment, size);
    return *block ? 0 : ENOMEM;
}

// A file of its own for this process, with what was counted so far.
static void begin(void) {
    const char *folder = getenv("TASKSCALE_PROBE");
    char path[4096];
    if (!folder || snprintf(path, sizeof path, "%s/%d.counts", folder, getpid()) >= (int)sizeof path) return;
    int file = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
    if (file < 0 || ftruncate(file, sizeof *counts)) return;
    struct counts *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (shared == MAP_FAILED) return;
    memcpy(shared, counts, sizeof *shared);
    counts = shared;
}

// A child shares its parent's blocks, which count there.
static void begin_child(void) {
    memset(&until_opened, 0, sizeof until_opened);
    counts = &until_opened;
    begin();
}

__attribute__((constructor)) static void load(void) {
    begin();
    pthread_atfork(NULL, NULL, begin_child);
}
