//! Whole-number formulas of `workloads/*.toml`: the correct result, from the program's arguments.

use std::cell::Cell;

use serde::Deserialize;

/// `+`, `-`, `*`, `/` (rounded towards zero), `%`, parentheses, whole numbers, names, and `sum(i, count, of)`:
/// the sum of `of` for `i` from 0 to `count` - 1.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Formula {
    root: Expr,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Expr {
    Number(i128),
    Name(String),
    Binary(Box<Expr>, char, Box<Expr>),
    Sum(String, Box<Expr>, Box<Expr>),
}

/// Maximum number of terms of all sums of a formula, so that none takes noticeably long.
const MAX_PARTS: i128 = 10_000_000;
/// Maximum length of a formula in bytes, which also bounds its depth.
const MAX_BYTES: usize = 1_000;

impl Formula {
    /// Parses a formula. The error explains what is wrong.
    pub fn parse(text: &str) -> Result<Formula, String> {
        if text.len() > MAX_BYTES {
            return Err(format!("a formula has at most {MAX_BYTES} characters"));
        }
        let mut parser = Parser { rest: text.trim_start() };
        let root = parser.sum()?;
        match parser.rest {
            "" => Ok(Formula { root }),
            rest => Err(format!("unexpected `{rest}` after the formula")),
        }
    }

    /// The names that it uses.
    pub fn names(&self) -> Vec<&str> {
        fn walk(node: &Expr) -> Vec<&str> {
            match node {
                Expr::Number(_) => Vec::new(),
                Expr::Name(name) => vec![name],
                Expr::Binary(left, _, right) => [walk(left), walk(right)].concat(),
                Expr::Sum(own, count, of) => {
                    let inner = walk(of).into_iter().filter(|name| name != own);
                    walk(count).into_iter().chain(inner).collect()
                }
            }
        }
        walk(&self.root)
    }

    /// Its value. `None` if a name has no value, a divisor is 0, a number does not fit in 128 bits, or sums are
    /// too long.
    pub fn value(&self, of: &dyn Fn(&str) -> Option<i128>) -> Option<i128> {
        fn walk(node: &Expr, of: &dyn Fn(&str) -> Option<i128>, parts: &Cell<i128>) -> Option<i128> {
            match node {
                Expr::Number(number) => Some(*number),
                Expr::Name(name) => of(name),
                Expr::Binary(left, operator, right) => {
                    let (left, right) = (walk(left, of, parts)?, walk(right, of, parts)?);
                    match operator {
                        '+' => left.checked_add(right),
                        '-' => left.checked_sub(right),
                        '*' => left.checked_mul(right),
                        '/' => left.checked_div(right),
                        _ => left.checked_rem(right),
                    }
                }
                Expr::Sum(own, count, part) => {
                    let count = walk(count, of, parts)?;
                    parts.set(parts.get().checked_sub(count.max(0)).filter(|left| *left >= 0)?);
                    (0..count).try_fold(0_i128, |sum, i| {
                        let with_own = |name: &str| if name == own { Some(i) } else { of(name) };
                        sum.checked_add(walk(part, &with_own, parts)?)
                    })
                }
            }
        }
        walk(&self.root, of, &Cell::new(MAX_PARTS))
    }
}

impl TryFrom<String> for Formula {
    type Error = String;

    fn try_from(text: String) -> Result<Formula, String> {
        Formula::parse(&text)
    }
}

struct Parser<'a> {
    /// Never begins with a space.
    rest: &'a str,
}

impl Parser<'_> {
    fn sum(&mut self) -> Result<Expr, String> {
        self.chain(['+', '-'].as_slice(), Parser::product)
    }

    fn product(&mut self) -> Result<Expr, String> {
        self.chain(['*', '/', '%'].as_slice(), Parser::operand)
    }

    fn chain(
        &mut self,
        operators: &[char],
        next: fn(&mut Self) -> Result<Expr, String>,
    ) -> Result<Expr, String> {
        let mut left = next(self)?;
        while let Some(operator) = self.rest.chars().next().filter(|c| operators.contains(c)) {
            self.skip(1);
            left = Expr::Binary(Box::new(left), operator, Box::new(next(self)?));
        }
        Ok(left)
    }

    fn operand(&mut self) -> Result<Expr, String> {
        if self.rest.starts_with('(') {
            self.skip(1);
            let inner = self.sum()?;
            self.expect(')')?;
            return Ok(inner);
        }
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let word = &self.rest[..self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len())];
        let node = match word.chars().next() {
            None => return Err("expected a number, a name or `(`".to_owned()),
            Some(c) if c.is_ascii_digit() => {
                let digits = word.replace('_', "");
                Expr::Number(digits.parse().map_err(|_| format!("`{word}` is not a whole number"))?)
            }
            Some(_) => Expr::Name(word.to_owned()),
        };
        self.skip(word.len());
        match node {
            Expr::Name(name) if name == "sum" && self.rest.starts_with('(') => self.parts(),
            node => Ok(node),
        }
    }

    /// The arguments of `sum`, in parentheses.
    fn parts(&mut self) -> Result<Expr, String> {
        self.expect('(')?;
        let Expr::Name(own) = self.operand()? else {
            return Err("`sum` must begin with the name of its variable".to_owned());
        };
        self.expect(',')?;
        let count = self.sum()?;
        self.expect(',')?;
        let of = self.sum()?;
        self.expect(')')?;
        Ok(Expr::Sum(own, Box::new(count), Box::new(of)))
    }

    fn expect(&mut self, mark: char) -> Result<(), String> {
        if !self.rest.starts_with(mark) {
            return Err(format!("`{mark}` is missing"));
        }
        self.skip(1);
        Ok(())
    }

    fn skip(&mut self, bytes: usize) {
        self.rest = self.rest[bytes..].trim_start();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn value(text: &str) -> Option<i128> {
        let of = |name: &str| [("tasks", 10), ("operations", 100_000_000)].into_iter().find(|n| n.0 == name);
        Formula::parse(text).unwrap().value(&|name| Some(of(name)?.1))
    }

    #[test]
    fn formulas_are_evaluated() {
        assert_eq!(value("operations * (operations - 1) / 2"), Some(4_999_999_950_000_000));
        assert_eq!(value("1 + 2 * 3 - 10 % 4"), Some(5));
        assert_eq!(value(" operations/tasks*(tasks*(tasks-1)/2) "), Some(450_000_000));
        assert_eq!(value("1_000 - 1 - 1"), Some(998));
        assert_eq!((value("tasks / 0"), value("nobody")), (None, None));
        assert_eq!(Formula::parse("a + 2 * b").unwrap().names(), ["a", "b"]);
        assert_eq!(value("sum(i, tasks, i * i) + sum(i, 3, sum(k, i, k + tasks))"), Some(285 + 31));
        assert_eq!(value("sum(i, 10000, sum(k, 10000, 1))"), None, "no formula takes for ever");
        assert_eq!((value("sum(i, 0, i)"), value("sum(i, operations, i)")), (Some(0), None));
        assert_eq!(Formula::parse("sum(i, a, i + b)").unwrap().names(), ["a", "b"]);
    }

    #[test]
    fn invalid_formulas_are_refused_with_the_reason() {
        for (text, said) in [
            ("", "expected a number"),
            ("1 +", "expected a number"),
            ("(1", "`)` is missing"),
            ("1 2", "unexpected `2`"),
            ("1x", "not a whole number"),
            ("sum(1, 2, 3)", "name of its variable"),
            (&"(".repeat(100_000), "at most 1000 characters"),
            ("sum(i, 2)", "`,` is missing"),
        ] {
            assert!(Formula::parse(text).unwrap_err().contains(said), "{text}");
        }
    }

    proptest! {
        #[test]
        fn parsing_never_panics(text in "(sum[(]i,)?[ -~]{0,40}") {
            if let Ok(formula) = Formula::parse(&text) {
                formula.value(&|_| Some(i128::MAX));
            }
        }
    }
}
