//! Whole charts: their text, and properties that all of them have.

use super::super::fixture::{HOSTILE, campaign, everything, facts, fell, sample};
use super::super::model::Report;
use super::{ExportError, ranking, scaling};
use crate::catalog::Kind;
use crate::record::Status;

fn report() -> Report {
    let (campaign, samples) = everything();
    Report::build(&campaign, &samples)
}

fn parsed(svg: &str) -> roxmltree::Document<'_> {
    roxmltree::Document::parse(svg).unwrap()
}

#[test]
fn charts() {
    insta::assert_snapshot!("ranking", ranking(&report(), None).unwrap());
    // Another N has its own rows, and each point of a stackful entry is a circle.
    let ten_thousand = ranking(&report(), Some(10_000)).unwrap();
    assert!(ten_thousand.contains("10k tasks") && !ten_thousand.contains("32,751 of"), "{ten_thousand}");
    let lines = scaling(&report()).unwrap();
    let dots = parsed(&lines).descendants().filter(|node| node.has_tag_name("circle")).count();
    assert!(dots >= 3 * 3, "{dots} dots: {lines}");
}

#[test]
fn charts_have_text_alternatives() {
    for svg in [ranking(&report(), None).unwrap(), scaling(&report()).unwrap()] {
        let document = parsed(&svg);
        let root = document.root_element();
        assert_eq!(root.attribute("role"), Some("img"));
        for id in root.attribute("aria-labelledby").unwrap().split(' ') {
            let node = document.descendants().find(|node| node.attribute("id") == Some(id)).unwrap();
            assert!(node.text().is_some_and(|text| text.len() > 10), "{id}");
        }
        let said = document.descendants().find(|node| node.has_tag_name("desc")).unwrap().text().unwrap();
        assert!(said.contains("go/goroutine: ") && said.contains("MiB") && said.contains("limit"), "{said}");
    }
}

#[test]
fn names_are_escaped_and_stay_inside_the_chart() {
    for svg in [ranking(&report(), None).unwrap(), scaling(&report()).unwrap()] {
        let document = parsed(&svg);
        let known = ["svg", "title", "desc", "style", "rect", "path", "polygon", "circle", "text", "g"];
        let (width, height) =
            (830.0, document.root_element().attribute("height").unwrap().parse::<f64>().unwrap());
        for node in document.descendants().filter(roxmltree::Node::is_element) {
            assert!(known.contains(&node.tag_name().name()), "{node:?}");
            for attribute in node.attributes() {
                assert!(!attribute.name().starts_with("on") && attribute.name() != "href", "{node:?}");
            }
            let at = |name| node.attribute(name).map_or(0.0, |text: &str| text.parse::<f64>().unwrap());
            assert!((0.0..=width).contains(&(at("x") + at("width"))), "{node:?}");
            assert!((0.0..=height).contains(&(at("y") + at("height"))), "{node:?}");
        }
        assert!(!svg.contains("<b>") && !svg.contains(HOSTILE));
    }
}

#[test]
fn rankings_show_every_row_with_its_status() {
    let svg = ranking(&report(), None).unwrap();
    let document = parsed(&svg);
    let rows: Vec<&str> = document
        .descendants()
        .filter(|node| node.has_tag_name("g"))
        .map(|group| group.first_element_child().unwrap().text().unwrap())
        .collect();
    assert_eq!(rows.len(), report().groups[2].rows.len());
    assert!(rows.iter().any(|row| row.starts_with("rust/thread: limit: 32,751 of 1,000,000")), "{rows:?}");
}

#[test]
fn undrawable_charts_report_the_reason() {
    let error = ranking(&report(), Some(7)).unwrap_err().to_string();
    assert_eq!(error, "not measured: N = 7 (measured: 1, 10k, 1M)");
    let campaign = campaign(vec![facts("go/goroutine", Kind::Stackful)]);
    let nothing = Report::build::<crate::record::Sample>(&campaign, &[]);
    assert_eq!(ranking(&nothing, None), Err(ExportError::NothingToDraw));
    assert_eq!(scaling(&nothing), Err(ExportError::NothingToDraw));
    let one = Report::build(&campaign, &[sample("go/goroutine", 10_000, 1, 3 << 20, 2_600)]);
    assert_eq!(scaling(&one), Err(ExportError::TooFewTasks(1)));
    assert!(ranking(&one, None).is_ok());
}

#[test]
fn a_curve_ends_at_the_first_failure_beyond_its_last_point() {
    let mut campaign = campaign(vec![facts("go/goroutine", Kind::Stackful)]);
    campaign.plan.tasks = vec![1, 10_000, 100_000, 1_000_000];
    let run = |tasks| sample("go/goroutine", tasks, 1, 3 << 20, 2_600);
    let failed = |tasks| fell(run(tasks), Status::Limit, "no more");
    let svg = scaling(&Report::build(&campaign, &[run(1), failed(10_000), run(100_000), failed(1_000_000)]));
    let svg = svg.unwrap();
    assert!(svg.contains("limit at 1M") && !svg.contains("limit at 10k"), "{svg}");
}
