//! Which of many versions must be measured to find those in which a metric changed. Pure.

use std::collections::BTreeMap;

/// A search over versions, which are numbered from 0.
#[derive(Debug, Clone)]
pub struct Bisection {
    versions: usize,
    /// `true`: measured; `false`: skipped, as it does not build.
    known: BTreeMap<usize, bool>,
}

impl Bisection {
    pub fn new(versions: usize) -> Bisection {
        Bisection { versions, known: BTreeMap::new() }
    }

    pub fn measured(&mut self, version: usize) {
        self.known.insert(version, true);
    }

    pub fn skip(&mut self, version: usize) {
        self.known.insert(version, false);
    }

    /// Pairs of measured versions without a measured one between them.
    pub fn neighbors(&self) -> Vec<(usize, usize)> {
        let measured = || self.known.iter().filter(|(_, measured)| **measured).map(|(at, _)| *at);
        measured().zip(measured().skip(1)).collect()
    }

    /// The version to measure next: the first and the last that build, then the one in the middle of neighbors
    /// that differ. `None` if no version is left between such neighbors.
    pub fn next(&self, differ: impl Fn(usize, usize) -> bool) -> Option<usize> {
        let is_new = |at: &usize| !self.known.contains_key(at);
        let can_be = |at: &usize| self.known.get(at) != Some(&false);
        let (first, last) = ((0..self.versions).find(can_be)?, (0..self.versions).rev().find(can_be)?);
        if let Some(end) = [first, last].into_iter().find(is_new) {
            return Some(end);
        }
        self.neighbors().into_iter().filter(|(low, high)| differ(*low, *high)).find_map(|(low, high)| {
            let middle = low.midpoint(high);
            (low + 1..high).filter(is_new).min_by_key(|at| at.abs_diff(middle))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Searches versions with these values (`None` does not build). Returns the steps, and how many versions
    /// were measured.
    fn search(figures: &[Option<u64>]) -> (Vec<(usize, usize)>, usize) {
        let mut search = Bisection::new(figures.len());
        let differ = |low: usize, high: usize| figures[low] != figures[high];
        let mut measured = 0;
        while let Some(at) = search.next(differ) {
            match figures[at] {
                Some(_) => search.measured(at),
                None => search.skip(at),
            }
            measured += usize::from(figures[at].is_some());
        }
        (search.neighbors().into_iter().filter(|(low, high)| differ(*low, *high)).collect(), measured)
    }

    #[test]
    fn bisection_finds_every_step() {
        let figures: Vec<Option<u64>> = (0..30)
            .map(|at| {
                Some(if at < 1 {
                    1_420
                } else if at < 4 {
                    248
                } else {
                    456
                })
            })
            .collect();
        let (steps, measured) = search(&figures);
        assert_eq!(steps, [(0, 1), (3, 4)]);
        assert!(measured <= 12, "{measured} of 30");
        assert_eq!(search(&[Some(1); 100]), (vec![], 2));
    }

    #[test]
    fn steps_span_versions_that_do_not_build() {
        let figures = [None, Some(1), None, None, Some(2), Some(2), None];
        assert_eq!(search(&figures).0, [(1, 4)]);
        assert_eq!(search(&[None, None]), (vec![], 0));
        assert_eq!(search(&[None, Some(1), None]), (vec![], 1));
    }
}
