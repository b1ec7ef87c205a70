//! `{tasks}` in a program's own command: for runtimes that allocate a table for N tasks at start.

use super::formula::Formula;

pub(super) const OPENED: &str = "{tasks";

/// The command with `{tasks}` and formulas such as `{tasks+1024}` replaced by their values. Invalid formulas stay as
/// they are.
pub fn with_tasks(command: &[String], tasks: u64) -> Vec<String> {
    command.iter().map(|word| filled(word, tasks).unwrap_or_else(|_| word.clone())).collect()
}

/// What is wrong with the formulas of a word of a command, if anything.
pub(super) fn unreadable_formula(word: &str) -> Option<String> {
    // The fewest tasks and the most.
    [1, u64::MAX].into_iter().find_map(|tasks| filled(word, tasks).err())
}

fn filled(word: &str, tasks: u64) -> Result<String, String> {
    let mut filled = String::new();
    let mut rest = word;
    while let Some((before, from)) = rest.split_once(OPENED) {
        let (after_name, after) =
            from.split_once('}').ok_or_else(|| format!("`{OPENED}` is not closed by `}}`"))?;
        let fault = |why: &str| format!("`{OPENED}{after_name}}}`: {why}");
        let formula = Formula::parse(&format!("tasks{after_name}")).map_err(|why| fault(&why))?;
        let value = formula
            .value(&|name| (name == "tasks").then_some(tasks.into()))
            .ok_or_else(|| fault("use a formula of `tasks` only, such as {tasks+1024}"))?;
        filled.push_str(before);
        filled.push_str(&value.to_string());
        rest = after;
    }
    Ok(filled + rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_tasks_and_formulas_are_filled_in() {
        let command = ["erl", "+P {tasks+1024}", "{tasks}:{tasks * 2}", "{ok, V}"].map(str::to_owned);
        assert_eq!(with_tasks(&command, 10), ["erl", "+P 1034", "10:20", "{ok, V}"]);
        assert_eq!(unreadable_formula("+P {tasks+1024}"), None);
    }

    #[test]
    fn invalid_formulas_are_reported_and_left_unchanged() {
        for (word, why) in [
            ("{tasks", "`{tasks` is not closed by `}`"),
            ("{tasks+cpus}", "`{tasks+cpus}`: use a formula of `tasks` only, such as {tasks+1024}"),
            ("{tasks/0}", "`{tasks/0}`: use a formula of `tasks` only, such as {tasks+1024}"),
        ] {
            assert_eq!(unreadable_formula(word).as_deref(), Some(why));
            assert_eq!(with_tasks(&[word.to_owned()], 10), [word]);
        }
        assert!(unreadable_formula("{tasks+}").is_some());
    }
}
