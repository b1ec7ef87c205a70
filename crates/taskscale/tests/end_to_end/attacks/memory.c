// Programs whose memory is easily counted twice, too late, or not at all.
// `memory ATTACK [ARGUMENT] TASKS SECONDS` speaks the protocol: `alive TASKS`, a wait until SECONDS after its start, `done
// TASKS`. It exits with 77 where the machine cannot run the attack.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/if_packet.h>
#include <linux/io_uring.h>
#include <arpa/inet.h>
#include <net/ethernet.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MIB (1UL << 20)
#define PAGE 4096UL

static const char *tasks;
static struct timespec start;
static double seconds;
static volatile char sum;

static void or_skip(int works, const char *what) {
    if (works) return;
    perror(what);
    exit(77);
}

static void pause_s(double s) {
    struct timespec wait = {(time_t)s, (long)((s - (time_t)s) * 1e9)};
    while (nanosleep(&wait, &wait) && errno == EINTR) {}
}

static void wait_to_the_end(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    double left = seconds + 0.2 - (now.tv_sec - start.tv_sec) - (now.tv_nsec - start.tv_nsec) / 1e9;
    if (left > 0) pause_s(left);
}

static void alive(void) { printf("alive %s\n", tasks), fflush(stdout); }

static void done(void) {
    wait_to_the_end();
    printf("done %s\n", tasks), fflush(stdout);
}

static void *touched(void *memory, size_t size) {
    or_skip(memory != MAP_FAILED && memory, "memory");
    for (size_t at = 0; at < size; at += PAGE) ((volatile char *)memory)[at] = 1;
    return memory;
}

static void *read_all(void *memory, size_t size) {
    or_skip(memory != MAP_FAILED, "mmap");
    for (size_t at = 0; at < size; at += PAGE) sum += ((volatile char *)memory)[at];
    return memory;
}

static void *anon(size_t size) {
    return touched(mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), size);
}

// A file of this size, all of its pages written.
static int file_of(const char *path, size_t size) {
    int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    or_skip(file >= 0, path);
    char block[PAGE];
    memset(block, 7, PAGE);
    // One page at a time: when the kernel splits larger pages of a file, it unmaps them.
    for (size_t at = 0; at < size; at += PAGE) or_skip(write(file, block, PAGE) == (ssize_t)PAGE, "write");
    return file;
}

static int memfd_of(size_t size) {
    int file = memfd_create("attack", 0);
    char block[PAGE];
    memset(block, 7, PAGE);
    // One page at a time: when the kernel splits larger pages of a file, it unmaps them.
    for (size_t at = 0; at < size; at += PAGE) or_skip(write(file, block, PAGE) == (ssize_t)PAGE, "write");
    return file;
}

// A child that is ready when this returns, and that ends with its parent's last task.
static pid_t child(void (*prepare)(void)) {
    int ready[2];
    or_skip(!pipe(ready), "pipe");
    pid_t pid = fork();
    or_skip(pid >= 0, "fork");
    if (pid == 0) {
        if (prepare) prepare();
        or_skip(write(ready[1], "r", 1) == 1, "write");
        close(ready[0]), close(ready[1]);
        wait_to_the_end();
        _exit(0);
    }
    char byte;
    close(ready[1]);
    or_skip(read(ready[0], &byte, 1) == 1, "the child");
    close(ready[0]);
    return pid;
}

static void *holds(void *unused) {
    (void)unused;
    pause_s(0.05);
    anon(64 * MIB);
    alive(), done();
    exit(0);
}

static void main_thread_ends(void) {
    pthread_t thread;
    or_skip(!pthread_create(&thread, NULL, holds, NULL), "pthread_create");
    pthread_exit(NULL);
}

static void secret(void) {
    prctl(PR_SET_DUMPABLE, 0);
    anon(64 * MIB);
}
static void undumpable(void) { child(secret); }

static void huge(void) {
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB;
    touched(mmap(NULL, 16 * MIB, PROT_READ | PROT_WRITE, flags, -1, 0), 16 * MIB);
}

// Pages that pipes hold, and no process maps.
static void spliced(void) {
    for (int i = 0; i < 64; i++) {
        int ends[2];
        or_skip(!pipe(ends) && fcntl(ends[1], F_SETPIPE_SZ, MIB) >= (int)MIB, "pipe");
        struct iovec part = {anon(MIB), MIB};
        or_skip(vmsplice(ends[1], &part, 1, SPLICE_F_NONBLOCK) == (ssize_t)MIB, "vmsplice");
        munmap(part.iov_base, MIB);
    }
}

// The same pages in two processes, and pages of its own in each.
static char *common;
static void copies_half(void) { touched(common, 8 * MIB); }
static void huge_forked(void) {
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB;
    common = touched(mmap(NULL, 16 * MIB, PROT_READ | PROT_WRITE, flags, -1, 0), 16 * MIB);
    child(copies_half);
}

static void mapped_8_times(void) {
    int file = file_of("data", 64 * MIB);
    for (int i = 0; i < 8; i++) read_all(mmap(NULL, 64 * MIB, PROT_READ, MAP_SHARED, file, 0), 64 * MIB);
}

static int common_file;
static void maps_second_half(void) {
    read_all(mmap(NULL, 32 * MIB, PROT_READ, MAP_SHARED, common_file, 32 * MIB), 32 * MIB);
    read_all(mmap(NULL, 60 * MIB, PROT_READ, MAP_SHARED, common_file, 4 * MIB), 60 * MIB);
}
static void offsets(void) {
    common_file = file_of("data", 64 * MIB);
    read_all(mmap(NULL, 64 * MIB, PROT_READ, MAP_SHARED, common_file, 0), 64 * MIB);
    child(maps_second_half);
}

// The same file by two names.
static void hard_links(void) {
    int one = file_of("data", 64 * MIB);
    unlink("link");
    or_skip(!link("data", "link"), "link");
    int two = open("link", O_RDONLY);
    read_all(mmap(NULL, 64 * MIB, PROT_READ, MAP_SHARED, one, 0), 64 * MIB);
    read_all(mmap(NULL, 64 * MIB, PROT_READ, MAP_SHARED, two, 0), 64 * MIB);
}

static void tmpfs_private(void) {
    // Two tests may do this at once.
    char path[64];
    snprintf(path, sizeof path, "/dev/shm/taskscale-attack-%d", getpid());
    int file = file_of(path, 64 * MIB);
    unlink(path);
    read_all(mmap(NULL, 64 * MIB, PROT_READ, MAP_PRIVATE, file, 0), 64 * MIB);
}

static void own_mounts(void) {
    or_skip(!unshare(CLONE_NEWNS), "unshare");
    or_skip(!mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL), "mount");
    or_skip(!mount("none", "/mnt", "tmpfs", 0, NULL), "mount");
    int file = file_of("/mnt/data", 64 * MIB);
    read_all(mmap(NULL, 64 * MIB, PROT_READ, MAP_PRIVATE, file, 0), 64 * MIB);
}

// As before, and the mount is gone from every list.
static void detached_mount(void) {
    own_mounts();
    or_skip(!umount2("/mnt", MNT_DETACH), "umount");
}

static int waits(void *unused) {
    (void)unused;
    wait_to_the_end();
    _exit(0);
}
static void clone_vm(void) {
    anon(16 * MIB);
    for (int i = 0; i < 50; i++) {
        char *stack = malloc(64 << 10);
        or_skip(clone(waits, stack + (64 << 10), CLONE_VM | SIGCHLD, NULL) > 0, "clone");
    }
}

static void vfork_child(void) {
    anon(64 * MIB);
    alive();
    if (vfork() == 0) {
        wait_to_the_end();
        _exit(0);
    }
    done();
    exit(0);
}

static void io_urings(void) {
    for (int i = 0; i < 20; i++) {
        struct io_uring_params params = {0};
        int ring = syscall(SYS_io_uring_setup, 4096, &params);
        or_skip(ring >= 0, "io_uring_setup");
        size_t bytes = params.sq_off.array + params.sq_entries * sizeof(unsigned);
        size_t entries = params.sq_entries * sizeof(struct io_uring_sqe);
        size_t completions = params.cq_off.cqes + params.cq_entries * sizeof(struct io_uring_cqe);
        if (completions > bytes) bytes = completions;
        int protection = PROT_READ | PROT_WRITE, flags = MAP_SHARED | MAP_POPULATE;
        or_skip(mmap(NULL, bytes, protection, flags, ring, IORING_OFF_SQ_RING) != MAP_FAILED, "mmap");
        or_skip(mmap(NULL, entries, protection, flags, ring, IORING_OFF_SQES) != MAP_FAILED, "mmap");
    }
}

static void packet_ring(void) {
    int sock = socket(AF_PACKET, SOCK_RAW, htons(ETH_P_ALL));
    or_skip(sock >= 0, "socket");
    struct tpacket_req request = {.tp_block_size = 1 << 20, .tp_block_nr = 16, .tp_frame_size = 2048, .tp_frame_nr = 8192};
    or_skip(!setsockopt(sock, SOL_PACKET, PACKET_RX_RING, &request, sizeof request), "PACKET_RX_RING");
    read_all(mmap(NULL, 16 * MIB, PROT_READ | PROT_WRITE, MAP_SHARED, sock, 0), 16 * MIB);
}

static const char *argument;
static void shm_of_others(void) {
    int file = open(argument, O_RDWR);
    or_skip(file >= 0, argument);
    read_all(mmap(NULL, 64 * MIB, PROT_READ, MAP_SHARED, file, 0), 64 * MIB);
    memfd_of(48 * MIB);
}

// Fills its memory cap with page cache, and takes memory later.
static void cache_then_heap(void) {
    int file = file_of("data", 256 * MIB);
    fsync(file);
    lseek(file, 0, SEEK_SET);
    char *block = malloc(MIB);
    while (read(file, block, MIB) > 0) {}
    free(block);
    alive(), pause_s(0.4);
    anon(100 * MIB);
    done();
    exit(0);
}

static void late_tasks(void) {
    alive(), pause_s(0.3);
    for (int i = atoi(tasks); i > 0; i--) memset(malloc(900), 1, 900);
    done();
    exit(0);
}

static const char *const roots[] = {"/sys/fs/cgroup/memory/cgroup.procs", "/sys/fs/cgroup/cgroup.procs"};
static int join(const char *procs) {
    int file = open(procs, O_WRONLY);
    int joined = file >= 0 && write(file, "0", 1) == 1;
    if (file >= 0) close(file);
    return joined;
}
static void leave(void) { or_skip(join(roots[0]) || join(roots[1]), "the root group"); }

static void one_escapes(void) {
    for (int i = 0; i < 1010; i++) child(NULL);
    int left[2];
    or_skip(!pipe(left), "pipe");
    if (fork() == 0) {
        leave();
        anon(200 * MIB);
        or_skip(write(left[1], "", 1) == 1, "write");
        wait_to_the_end();
        _exit(0);
    }
    // However busy the machine is, it has left before the tasks are said to be alive.
    char byte;
    or_skip(read(left[0], &byte, 1) == 1, "read");
}

// Its own group of the memory controller, as the root group's file would name it.
static void own_group(char *procs, size_t size) {
    char line[1024];
    FILE *groups = fopen("/proc/self/cgroup", "r");
    while (fgets(line, sizeof line, groups)) {
        line[strcspn(line, "\n")] = 0;
        char *path = strrchr(line, ':') + 1;
        if (strstr(line, ":memory:")) snprintf(procs, size, "/sys/fs/cgroup/memory%s/cgroup.procs", path);
        if (!strncmp(line, "0::", 3) && access(roots[0], F_OK))
            snprintf(procs, size, "/sys/fs/cgroup%s/cgroup.procs", path);
    }
    fclose(groups);
}
static void returns_with(void (*take)(void)) {
    char procs[2048] = "";
    own_group(procs, sizeof procs);
    leave();
    take();
    or_skip(join(procs), procs);
}
static void takes_memfd(void) { memfd_of(76 * MIB); }
static void takes_heap(void) { anon(76 * MIB); }
static void takes_pipes(void) {
    char block[65536];
    memset(block, 1, sizeof block);
    for (int i = 0; i < 400; i++) {
        int ends[2];
        or_skip(!pipe(ends), "pipe");
        or_skip(write(ends[1], block, sizeof block) > 0, "write");
    }
}
static void returns_memfd(void) { returns_with(takes_memfd); }
static void returns_heap(void) { returns_with(takes_heap); }
static void returns_pipes(void) { returns_with(takes_pipes); }

// Lifts its own cap, and holds more for a while.
static void lifts_cap(void) {
    char group[2048] = "", path[2100];
    own_group(group, sizeof group);
    *strrchr(group, '/') = 0;
    const char *const caps[] = {"memory.memsw.limit_in_bytes", "memory.limit_in_bytes", "memory.max"};
    for (size_t i = 0; i < sizeof caps / sizeof *caps; i++) {
        snprintf(path, sizeof path, "%s/%s", group, caps[i]);
        int file = open(path, O_WRONLY);
        if (file < 0) continue;
        or_skip(write(file, "1073741824", 10) == 10, path);
        close(file);
    }
    munmap(anon(100 * MIB), 100 * MIB);
}

// Tasks that start after `alive` and end before `done`.
static void grows_and_falls(void) {
    alive(), pause_s(0.6);
    void *memory = anon(100 * MIB);
    pause_s(0.2);
    munmap(memory, 100 * MIB);
    done();
    exit(0);
}

// Says nothing, stops in its launch, and would go on if it were continued.
static void stops(void) {
    raise(SIGSTOP);
    anon(64 * MIB);
    wait_to_the_end();
    exit(0);
}


static void leaves_segment(void) {
    int segment = shmget(atoi(argument), 8 * MIB, IPC_CREAT | 0600);
    or_skip(segment >= 0, "shmget");
    touched(shmat(segment, NULL, 0), 8 * MIB);
}

// SysV segments of one number and memfds of the same inode are told apart.
static void segments(void) {
    for (int i = 0; i < 4; i++) {
        int segment = shmget(IPC_PRIVATE, 4 * MIB, IPC_CREAT | 0600);
        or_skip(segment >= 0, "shmget");
        touched(shmat(segment, NULL, 0), 4 * MIB);
        shmctl(segment, IPC_RMID, NULL);
    }
    int file = memfd_of(16 * MIB);
    read_all(mmap(NULL, 16 * MIB, PROT_READ, MAP_SHARED, file, 0), 16 * MIB);
}

// 1 TiB of address space with 16 MiB of pages in it.
static void sparse(void) {
    int file = memfd_create("sparse", 0);
    or_skip(!ftruncate(file, 1L << 40), "ftruncate");
    char *memory = mmap(NULL, 1L << 40, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
    or_skip(memory != MAP_FAILED, "mmap");
    for (size_t i = 0; i < 4096; i++) memory[i << 28] = 1;
}

static const struct { const char *name; void (*run)(void); } attacks[] = {
    {"nothing", NULL}, {"main-thread-ends", main_thread_ends}, {"undumpable", undumpable}, {"huge", huge},
    {"huge-forked", huge_forked}, {"mapped-8-times", mapped_8_times}, {"offsets", offsets},
    {"hard-links", hard_links}, {"tmpfs-private", tmpfs_private}, {"own-mounts", own_mounts},
    {"detached-mount", detached_mount}, {"clone-vm", clone_vm}, {"vfork", vfork_child}, {"io-urings", io_urings},
    {"packet-ring", packet_ring}, {"shm-of-others", shm_of_others}, {"cache-then-heap", cache_then_heap},
    {"late-tasks", late_tasks}, {"one-escapes", one_escapes}, {"spliced", spliced},
    {"returns-memfd", returns_memfd}, {"returns-heap", returns_heap}, {"returns-pipes", returns_pipes},
    {"lifts-cap", lifts_cap}, {"grows-and-falls", grows_and_falls},
    {"stops", stops}, {"leaves-segment", leaves_segment}, {"segments", segments}, {"sparse", sparse},
};

int main(int count, char **words) {
    if (count < 4) return 2;
    clock_gettime(CLOCK_MONOTONIC, &start);
    tasks = words[count - 2], seconds = atof(words[count - 1]), argument = count > 4 ? words[2] : NULL;
    for (size_t i = 0; i < sizeof attacks / sizeof *attacks; i++) {
        if (strcmp(attacks[i].name, words[1])) continue;
        if (attacks[i].run) attacks[i].run();
        alive(), done();
        signal(SIGCHLD, SIG_IGN);
        return 0;
    }
    return 2;
}
