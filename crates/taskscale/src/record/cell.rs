//! The names of what is measured: a case is an entry doing one workload with N tasks.

use std::collections::BTreeMap;
use std::fmt;

/// A series: the workload, parameters and CPUs that several cases share. They are shown in one table and
/// compared.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Series {
    pub workload: String,
    /// Parameters that differ from the workload's defaults, by name.
    pub params: BTreeMap<String, String>,
    /// Number of CPUs the program was pinned to. `None`: all.
    pub cpus: Option<u32>,
}

/// `ring, tokens=8, 2 CPUs`.
impl fmt::Display for Series {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.workload)?;
        for (name, value) in &self.params {
            write!(f, ", {name}={value}")?;
        }
        match self.cpus {
            None => Ok(()),
            Some(1) => f.write_str(", 1 CPU"),
            Some(cpus) => write!(f, ", {cpus} CPUs"),
        }
    }
}

/// A case: an entry, a series, a number of tasks.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cell {
    /// `runtime/entry`.
    pub entry: String,
    pub part: Series,
    pub tasks: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn series_name_has_workload_parameters_and_cpus() {
        let params = BTreeMap::from([("tokens".to_owned(), "8".to_owned())]);
        let sleep = Series { workload: "sleep".to_owned(), ..Series::default() };
        assert_eq!(sleep.to_string(), "sleep");
        assert_eq!(
            Series { workload: "ring".to_owned(), params, cpus: Some(2) }.to_string(),
            "ring, tokens=8, 2 CPUs"
        );
    }
}
