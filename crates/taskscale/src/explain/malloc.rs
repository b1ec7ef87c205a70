//! The adapter for glibc's malloc: live blocks by size, counted by a preloaded library.

use std::fs;
use std::path::Path;

use super::sheet::{PartBytes, PartSource, add_bytes};

/// As in hooks/malloc.c: classes of usable sizes, each 16 bytes wide, and one of all larger blocks.
const CLASSES: usize = 257;
/// Bytes of the header before each block.
const HEADER: i64 = 8;

/// Reads the counts of the processes that have some. `resident`: resident bytes of the heaps.
pub fn ask(pids: &[u32], folder: &Path, resident: f64) -> Result<PartBytes, String> {
    let mut parts = PartBytes::new();
    let mut chunks = 0.0;
    let counts = pids.iter().filter_map(|pid| fs::read(folder.join(format!("{pid}.counts"))).ok());
    for counts in counts {
        chunks += add(&mut parts, &counts).ok_or("the preloaded library's counts are cut short")?;
    }
    if parts.is_empty() {
        return Err(
            "the preloaded library was not loaded: a static program, or one that clears its environment"
                .to_owned(),
        );
    }
    let mut unused = |name, bytes| add_bytes(&mut parts, PartSource::Unused, name, bytes);
    unused("gaps between blocks", (resident - chunks).max(0.0));
    // Negative: mostly untouched blocks, such as stacks, count in full above.
    unused("blocks, as far as never touched", (resident - chunks).min(0.0));
    Ok(parts)
}

/// Adds the blocks of one process, and returns their bytes with headers. `None` if counts are missing.
fn add(parts: &mut PartBytes, counts: &[u8]) -> Option<f64> {
    let numbers: Vec<i64> = counts
        .chunks_exact(8)
        .map(|bytes| i64::from_ne_bytes(bytes.try_into().unwrap_or_default()))
        .collect();
    let mut arrays = numbers.chunks_exact(CLASSES);
    let (blocks, usable, requested) = (arrays.next()?, arrays.next()?, arrays.next()?);
    let mut put = |group, name: &str, bytes: i64| add_bytes(parts, group, name, bytes as f64);
    let mut chunks = 0;
    for class in (0..CLASSES).filter(|class| blocks[*class] > 0) {
        let name = match class {
            // All blocks of a class have one usable size: 8 more than a multiple of 16.
            _ if class < CLASSES - 1 => format!("blocks of {} B", usable[class] / blocks[class]),
            _ => "larger blocks".to_owned(),
        };
        put(PartSource::Live, &name, requested[class]);
        put(PartSource::Unused, "headers of malloc", blocks[class] * HEADER);
        put(PartSource::Unused, "rounding by malloc", usable[class] - requested[class]);
        chunks += usable[class] + blocks[class] * HEADER;
    }
    Some(chunks as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn malloc_counts_are_split_into_blocks_headers_and_rounding() {
        let mut numbers = [0_i64; 3 * CLASSES];
        // Ten blocks of 100 bytes, which take 104, and one of 8,000.
        let (of_100, larger) = (104 / 16, CLASSES - 1);
        (numbers[of_100], numbers[CLASSES + of_100], numbers[2 * CLASSES + of_100]) = (10, 1040, 1000);
        (numbers[larger], numbers[CLASSES + larger], numbers[2 * CLASSES + larger]) = (1, 8008, 8000);
        let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_ne_bytes()).collect();
        let mut parts = PartBytes::new();
        assert_eq!(add(&mut parts, &bytes), Some(1040.0 + 80.0 + 8008.0 + 8.0));
        let shown: Vec<(&str, f64)> = parts.iter().map(|(name, bytes)| (&*name.name, *bytes)).collect();
        let expected = [
            ("blocks of 104 B", 1000.0),
            ("larger blocks", 8000.0),
            ("headers of malloc", 88.0),
            ("rounding by malloc", 48.0),
        ];
        assert_eq!(shown, expected);
        assert_eq!(add(&mut parts, &bytes[..100]), None);
    }
}
