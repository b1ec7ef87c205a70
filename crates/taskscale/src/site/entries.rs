//! The list of all entries, by runtime, with bytes per task.

use super::campaigns::{Shown, machine_name, mark_behind};
use super::docs::Documents;
use super::layout::{ENTRIES, Page, anchor, plain_name};
use super::start::{Featured, featured};
use super::subject::Subject;
use crate::catalog::{Catalog, Style};
use crate::figures;
use crate::report::Report;
use crate::sheet::{NONE, escaped};
use crate::units::{counted, tasks};

pub fn page(campaigns: &[Shown], subjects: &[Subject], catalog: &Catalog, documents: &Documents) -> String {
    let mut runtimes: Vec<(&str, &str, Vec<&Subject>)> = Vec::new();
    for subject in subjects {
        match runtimes.last_mut().filter(|(runtime, ..)| *runtime == subject.runtime) {
            Some((.., own)) => own.push(subject),
            None => runtimes.push((&subject.runtime, &subject.runtime_title, vec![subject])),
        }
    }
    runtimes.sort_by_key(|(_, title, _)| title.to_lowercase());
    let featured = featured(campaigns, catalog);
    let mut main = format!(
        "<h1>{} entries of {}</h1>\n<p class=\"lead\">An entry is one way to run tasks: a program as users of the language write it \
         (idiomatic), or tuned for the benchmark (tuned). Compare entries of the same kind: a timer does less than a thread.</p>\n",
        subjects.len(),
        counted(runtimes.len() as u64, "runtime"),
    );
    main.push_str(&featured.as_ref().map(source).unwrap_or_default());
    let jumps: String = runtimes
        .iter()
        .map(|(runtime, title, _)| format!("<a href=\"#{}\">{}</a>\n", plain_name(runtime), escaped(title)))
        .collect();
    main.push_str(&format!("<nav class=\"jumps\" aria-label=\"Runtimes\">\n{jumps}</nav>\n"));
    for (runtime, title, own) in &runtimes {
        main.push_str(&section(runtime, title, own, featured.as_ref(), documents));
    }
    let about = "Every program that taskscale measures, by runtime";
    Page { path: ENTRIES, title: "Entries", about, main: &main }.render(!documents.is_empty())
}

/// The results that the values of the list come from.
fn source(featured: &Featured) -> String {
    format!(
        "<p class=\"quiet\">Results: {}, {}, workload {}, on {}{}. No value: not measured there, or failed.</p>\n",
        anchor(ENTRIES, &featured.campaign.page, &featured.campaign.place),
        featured.campaign.created_at.date(),
        escaped(&featured.report.part().to_string()),
        machine_name(&featured.campaign.machine),
        mark_behind(featured.campaign),
    )
}

fn section(
    runtime: &str,
    title: &str,
    own: &[&Subject],
    featured: Option<&Featured>,
    documents: &Documents,
) -> String {
    let readme = documents.page(&format!("runtimes/{runtime}/README.md"), "");
    let readme = readme
        .map(|(page, _)| format!(" <small>{}</small>", anchor(ENTRIES, &page, "decisions and known limits")));
    let heads: String = featured
        .map(|featured| {
            format!(
                "<th scope=\"col\" class=\"n\">{}, {}</th><th scope=\"col\" class=\"n\">vs best of kind</th>\
                 <th scope=\"col\" class=\"n\">{}</th>",
                escaped(featured.report.headline().heading),
                tasks(featured.group.tasks),
                escaped(figures::BYTES_PER_TASK.heading),
            )
        })
        .unwrap_or_default();
    let rows: String = own.iter().map(|subject| row(subject, featured)).collect();
    format!(
        "<section aria-labelledby=\"{id}\">\n<h2 id=\"{id}\">{}{}</h2>\n<div class=\"scroll\" tabindex=\"0\"><table class=\"entries\">\n\
         <thead><tr><th scope=\"col\">Entry</th><th scope=\"col\">Kind</th><th scope=\"col\">Style</th>{heads}\
         <th scope=\"col\">Workloads</th></tr></thead>\n<tbody>\n{rows}</tbody></table></div>\n</section>\n",
        escaped(title),
        readme.unwrap_or_default(),
        id = plain_name(runtime),
    )
}

fn row(subject: &Subject, featured: Option<&Featured>) -> String {
    let figures = featured.map(|featured| {
        let row = featured.group.rows.iter().find(|row| row.entry.name == subject.name);
        let headline = row.filter(|row| row.ok_runs > 0).and_then(|row| row.headline);
        let times = row.and_then(|row| row.times_best).map(|times| crate::units::decimal(times, 2));
        let shown = [
            headline.map(|spread| featured.report.headline().show(spread.median)),
            times,
            per_task(featured.report, &subject.name),
        ];
        shown
            .map(|text| format!("<td class=\"n\">{}</td>", escaped(text.as_deref().unwrap_or(NONE))))
            .concat()
    });
    let workloads: Vec<&str> = subject.programs.iter().map(|program| &*program.workload).collect();
    format!(
        "<tr><th scope=\"row\">{}<small>{}</small></th><td>{}</td><td>{}</td>{}<td class=\"words\">{}</td></tr>\n",
        anchor(ENTRIES, &subject.page, subject.name.split_once('/').map_or(&*subject.name, |(_, name)| name)),
        escaped(&subject.title),
        subject.kind.name(),
        style(subject),
        figures.unwrap_or_default(),
        escaped(&workloads.join(", ")),
    )
}

/// Bytes per task of an entry, as a table writes it.
fn per_task(report: &Report, name: &str) -> Option<String> {
    let rows = report.groups.iter().flat_map(|group| &group.rows);
    rows.filter(|row| row.entry.name == name && row.ok_runs > 0)
        .find_map(|row| row.text(&figures::BYTES_PER_TASK))
}

/// Facts that matter for comparisons.
pub fn style(subject: &Subject) -> String {
    let mut words = vec![match subject.style {
        Style::Idiomatic => "idiomatic",
        Style::Tuned => "tuned",
    }];
    words.extend(subject.reference.then_some("reference, never ranked"));
    words.extend((!subject.parallel).then_some("one CPU"));
    words.extend(subject.unverified.as_ref().map(|_| "unverified"));
    words.join(", ")
}
