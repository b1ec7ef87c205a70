//! What the scripted program takes: the true values.

use taskscale::record::{MemorySource, Sample};

pub const KIB: u64 = 1 << 10;
pub const MIB: u64 = 1 << 20;

/// A metric of a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TruthMetric {
    Anon,
    Shmem,
    File,
    KernelStack,
    PageTables,
    Kernel,
    Slab,
    Sock,
    Peak,
}

impl TruthMetric {
    pub fn name(self) -> &'static str {
        match self {
            TruthMetric::Anon => "anon",
            TruthMetric::Shmem => "shmem",
            TruthMetric::File => "file",
            TruthMetric::KernelStack => "kernel_stack",
            TruthMetric::PageTables => "page_tables",
            TruthMetric::Kernel => "kernel",
            TruthMetric::Slab => "slab",
            TruthMetric::Sock => "sock",
            TruthMetric::Peak => "peak",
        }
    }

    pub fn of(self, sample: &Sample) -> Option<u64> {
        let plateau = sample.memory.plateau.as_ref()?;
        match self {
            TruthMetric::Anon => Some(plateau.anon_bytes),
            TruthMetric::Shmem => Some(plateau.shmem_bytes),
            TruthMetric::File => Some(plateau.file_bytes),
            TruthMetric::KernelStack => plateau.kernel_stack_bytes,
            TruthMetric::PageTables => plateau.page_tables_bytes,
            TruthMetric::Kernel => Some(plateau.kernel_bytes),
            TruthMetric::Slab => plateau.slab_bytes,
            TruthMetric::Sock => plateau.sock_bytes,
            TruthMetric::Peak => sample.memory.peak_bytes,
        }
    }

    /// Maximum error, in bytes. Cgroups charge in batches of 64 pages per CPU, ahead of use: the peak shows
    /// that, the plateau does not.
    ///
    /// Random addresses decide whether the page tables of a region need one more page. So they may differ by
    /// two pages for each further process.
    pub fn bound(self, truth: u64, processes: u64) -> u64 {
        let bound = (64 * KIB).max(truth / 1000);
        match self {
            TruthMetric::Peak => MIB.max(truth / 200),
            TruthMetric::PageTables => bound + 8 * KIB * processes.saturating_sub(1),
            _ => bound,
        }
    }
}

/// How much a value exceeds that of the reference case, in bytes.
#[derive(Debug, Clone, Copy)]
pub enum Truth {
    Exactly(u64),
    /// The kernel adds an unknown overhead.
    AtLeast(u64),
    /// At least the bytes that the program reports as queued in its sockets.
    AtLeastQueued,
}

pub struct Expect {
    pub figure: TruthMetric,
    pub truth: Truth,
    /// Sources that cannot see it: the difference is 0 or unknown.
    pub unseen_by: &'static [MemorySource],
}

pub struct TruthCase {
    /// Also the entry's name.
    pub name: &'static str,
    pub title: &'static str,
    /// Arguments of fake-entry. `DIR` is its folder.
    pub args: &'static [&'static str],
    /// The case that does the same but takes nothing.
    pub reference: &'static str,
    pub expects: Vec<Expect>,
}

/// The reference of most cases.
pub const NOTHING: &str = "nothing";
/// The mapped file, next to the program.
pub const DATA_FILE: &str = "data";
pub const DATA_BYTES: u64 = 16 * MIB;

const NO_GROUP: &[MemorySource] = &[MemorySource::Proc];
const NO_V2: &[MemorySource] = &[MemorySource::Proc, MemorySource::CgroupV1];

fn is(figure: TruthMetric, bytes: u64) -> Expect {
    Expect { figure, truth: Truth::Exactly(bytes), unseen_by: &[] }
}

fn at_least(figure: TruthMetric, bytes: u64) -> Expect {
    Expect { figure, truth: Truth::AtLeast(bytes), unseen_by: &[] }
}

impl Expect {
    fn unseen_by(self, unseen_by: &'static [MemorySource]) -> Expect {
        Expect { unseen_by, ..self }
    }
}

/// Page tables of a region, in bytes: 8 for each page of 4 KiB.
fn tables_of(bytes: u64) -> u64 {
    bytes / 512
}

fn case(
    name: &'static str,
    title: &'static str,
    args: &'static [&'static str],
    expects: Vec<Expect>,
) -> TruthCase {
    TruthCase { name, title, args, reference: NOTHING, expects }
}

fn anon(name: &'static str, title: &'static str, args: &'static [&'static str], mib: u64) -> TruthCase {
    let bytes = mib * MIB;
    let expects = vec![
        is(TruthMetric::Anon, bytes),
        is(TruthMetric::Shmem, 0),
        is(TruthMetric::File, 0),
        is(TruthMetric::KernelStack, 0),
        is(TruthMetric::PageTables, tables_of(bytes)),
        is(TruthMetric::Peak, bytes),
    ];
    case(name, title, args, expects)
}

/// All cases, references included (they expect nothing).
pub fn all() -> Vec<TruthCase> {
    use TruthMetric::*;
    vec![
        case(NOTHING, "", &[], vec![]),
        anon("anon-0", "nothing, once more", &[], 0),
        anon("anon-1", "1 MiB of anonymous memory", &["--anon-bytes", "1MiB"], 1),
        anon("anon-10", "10 MiB of anonymous memory", &["--anon-bytes", "10MiB"], 10),
        anon("anon-100", "100 MiB of anonymous memory", &["--anon-bytes", "100MiB"], 100),
        anon("anon-1000", "1000 MiB of anonymous memory", &["--anon-bytes", "1000MiB"], 1000),
        case(
            "shmem",
            "64 MiB of shared memory",
            &["--shmem-bytes", "64MiB"],
            vec![is(Shmem, 64 * MIB), is(Anon, 0), is(File, 0), is(Peak, 64 * MIB)],
        ),
        case(
            "memfd",
            "64 MiB in a memfd that is unmapped",
            &["--memfd-bytes", "64MiB"],
            vec![
                is(Shmem, 64 * MIB).unseen_by(NO_GROUP),
                is(Anon, 0),
                is(File, 0),
                is(Peak, 64 * MIB).unseen_by(NO_GROUP),
            ],
        ),
        case(
            "file",
            "16 MiB of a mapped file",
            &["--file", "DIR/data", "--file-bytes", "16MiB"],
            vec![is(File, DATA_BYTES), is(Anon, 0), is(Shmem, 0)],
        ),
        case(
            "threads",
            "500 threads",
            &["--threads", "500"],
            vec![
                is(KernelStack, 500 * 16 * KIB),
                at_least(Kernel, 500 * 16 * KIB),
                // A task_struct alone is larger.
                at_least(Slab, 500 * 4 * KIB).unseen_by(NO_V2),
                is(Shmem, 0),
            ],
        ),
        // A process that takes memory also writes other pages. So each process of the reference takes one page,
        // and each process here one page more than 8 MiB.
        case("processes-0", "", &["--processes", "8", "--anon-bytes-per-process", "4KiB"], vec![]),
        TruthCase {
            reference: "processes-0",
            ..case(
                "processes",
                "8 processes of 8 MiB each",
                &["--processes", "8", "--anon-bytes-per-process", "8196KiB"],
                vec![
                    is(Anon, 64 * MIB),
                    is(File, 0),
                    is(Shmem, 0),
                    is(KernelStack, 0),
                    is(PageTables, tables_of(64 * MIB)),
                    is(Peak, 64 * MIB),
                ],
            )
        },
        case("grandchildren-0", "", &["--grandchildren", "8", "--anon-bytes-per-process", "4KiB"], vec![]),
        TruthCase {
            reference: "grandchildren-0",
            ..case(
                "grandchildren",
                "8 grandchildren of 8 MiB each",
                &["--grandchildren", "8", "--anon-bytes-per-process", "8196KiB"],
                vec![
                    is(Anon, 64 * MIB),
                    is(File, 0),
                    is(Shmem, 0),
                    is(KernelStack, 0),
                    is(PageTables, tables_of(64 * MIB)),
                    is(Peak, 64 * MIB),
                ],
            )
        },
        case(
            "subgroups-0",
            "",
            &["--fault", "subgroups", "--processes", "8", "--anon-bytes-per-process", "4KiB"],
            vec![],
        ),
        TruthCase {
            reference: "subgroups-0",
            ..case(
                "subgroups",
                "8 processes of 8 MiB each, in a cgroup inside the run's",
                &["--fault", "subgroups", "--processes", "8", "--anon-bytes-per-process", "8196KiB"],
                vec![
                    is(Anon, 64 * MIB),
                    is(File, 0),
                    is(Shmem, 0),
                    is(KernelStack, 0),
                    is(PageTables, tables_of(64 * MIB)),
                    is(Peak, 64 * MIB),
                ],
            )
        },
        case(
            "sockets",
            "64 TCP pairs, buffers full",
            &["--sockets", "64"],
            vec![
                Expect { figure: Sock, truth: Truth::AtLeastQueued, unseen_by: NO_GROUP },
                Expect { figure: Kernel, truth: Truth::AtLeastQueued, unseen_by: NO_GROUP },
                Expect { figure: Peak, truth: Truth::AtLeastQueued, unseen_by: NO_GROUP },
                is(Anon, 0),
            ],
        ),
        case(
            "unix-sockets",
            "64 pairs of Unix sockets, buffers full",
            &["--unix-sockets", "64"],
            vec![
                Expect { figure: Kernel, truth: Truth::AtLeastQueued, unseen_by: NO_GROUP },
                Expect { figure: Peak, truth: Truth::AtLeastQueued, unseen_by: NO_GROUP },
                is(Anon, 0),
            ],
        ),
        case(
            "peak-launch",
            "256 MiB, gone before the plateau",
            &["--peak-launch-bytes", "256MiB", "--launch-ms", "50"],
            vec![is(Peak, 256 * MIB), is(Anon, 0)],
        ),
        case(
            "peak-drain",
            "32 MiB, and 256 MiB more in the drain",
            &["--anon-bytes", "32MiB", "--peak-drain-bytes", "256MiB"],
            vec![is(Anon, 32 * MIB), is(Peak, 288 * MIB)],
        ),
        case(
            "given-back",
            "256 MiB, touched and given back",
            &["--give-back-bytes", "256MiB"],
            vec![is(Peak, 256 * MIB), is(Anon, 0)],
        ),
        case(
            "mixed",
            "10 MiB anonymous, 10 MiB shared, 10 MiB in a memfd",
            &["--anon-bytes", "10MiB", "--shmem-bytes", "10MiB", "--memfd-bytes", "10MiB"],
            vec![
                is(Anon, 10 * MIB),
                is(Shmem, 20 * MIB).unseen_by(NO_GROUP),
                is(Peak, 30 * MIB).unseen_by(NO_GROUP),
            ],
        ),
    ]
}
