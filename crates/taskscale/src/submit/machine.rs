//! The class of a machine, as a name of a folder.

use crate::document::joined;
use crate::record::Machine;

/// Words in processors' names that distinguish none of them.
const NOISE: [&str; 9] = ["intel", "amd", "cpu", "processor", "apu", "with", "radeon", "graphics", "virtual"];
/// Maximum length of a processor's name, in bytes.
const LONGEST: usize = 48;

/// `xeon-2-5ghz-2cpu`: the class of a machine, which matters most for results and does not identify its owner. Only
/// lowercase letters, digits and `-`.
pub fn class(machine: &Machine) -> String {
    let cpu = machine.cpu.to_lowercase().replace("(r)", " ").replace("(tm)", " ");
    let words = cpu.split(|c: char| c.is_whitespace() || "@,()".contains(c));
    let words = words.filter(|word| !NOISE.contains(word) && !word.ends_with("-core"));
    let mut name = joined(words.map(plain).filter(|word| !word.is_empty()), "-");
    name.truncate(LONGEST);
    let name = name.trim_end_matches('-');
    let name = if name.is_empty() { plain(&machine.architecture.to_lowercase()) } else { name.to_owned() };
    format!("{name}-{}cpu", machine.cpus).trim_start_matches('-').to_owned()
}

/// A word with only letters, digits and `-`: `2.50ghz` becomes `2-5ghz`.
fn plain(word: &str) -> String {
    let number = word.strip_suffix("ghz").and_then(|number| number.parse::<f64>().ok());
    let word = number.map_or(word.to_owned(), |number| format!("{number}ghz"));
    let parts = word.split(|c: char| !c.is_ascii_alphanumeric()).filter(|part| !part.is_empty());
    joined(parts, "-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_is_named_by_its_processor() {
        for (cpu, cpus, expected) in [
            ("Intel(R) Xeon(R) Processor @ 2.50GHz", 2, "xeon-2-5ghz-2cpu"),
            ("AMD EPYC 7763 64-Core Processor", 4, "epyc-7763-4cpu"),
            ("12th Gen Intel(R) Core(TM) i7-1260P", 16, "12th-gen-core-i7-1260p-16cpu"),
            ("AMD Ryzen 7 7840U w/ Radeon 780M Graphics", 16, "ryzen-7-7840u-w-780m-16cpu"),
            ("", 8, "aarch64-8cpu"),
            ("../../etc", 1, "etc-1cpu"),
        ] {
            let machine = Machine {
                cpu: cpu.to_owned(),
                cpus,
                architecture: "aarch64".to_owned(),
                ..Machine::default()
            };
            assert_eq!(class(&machine), expected);
        }
    }

    proptest::proptest! {
        #[test]
        fn machine_names_are_valid_folder_names(cpu in "\\PC{0,80}", cpus in 0u64..4096) {
            let name = class(&Machine { cpu, cpus, ..Machine::default() });
            proptest::prop_assert!(name.chars().all(|c| matches!(c, 'a'..='z' | '0'..='9' | '-')), "{}", name);
            proptest::prop_assert!(!name.is_empty() && !name.starts_with('-') && name.len() < 64);
        }
    }
}
