//! [`task_type`]: what kind of task it is, by the first list with a word in it. Seed 003 names
//! the types and not their words: the lists are ours.

/// The types in the order in which they are asked, each with its words.
pub(crate) const TYPES: [(&str, &[&str]); 5] = [
    (
        "analysis",
        &[
            "analy",
            "investigate",
            "compare",
            "explain",
            "evaluate",
            "分析",
        ],
    ),
    (
        "generation",
        &["generate", "create", "write", "implement", "build", "生成"],
    ),
    (
        "sql",
        &["sql", "query", "database", "select ", "table", "查询"],
    ),
    ("testing", &["test", "verify", "validate", "测试"]),
    ("reporting", &["report", "summar", "dashboard", "报告"]),
];

/// The type of a task; `general` where no list has a word in it. `order`: numbers of [`TYPES`].
pub(crate) fn task_type(task: &str, order: &[usize]) -> &'static str {
    let task = task.to_lowercase();
    let has = |at: &&usize| {
        TYPES
            .get(**at)
            .is_some_and(|(_, words)| words.iter().any(|word| task.contains(word)))
    };
    order
        .iter()
        .find(has)
        .and_then(|at| TYPES.get(*at))
        .map_or("general", |(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_list_with_a_word_decides() {
        let task = "Write a SQL query and test it.";
        assert_eq!(task_type(task, &[0, 1, 2, 3, 4]), "generation");
        assert_eq!(task_type(task, &[2, 1, 0, 3, 4]), "sql");
        assert_eq!(task_type("Hello.", &[0, 1, 2, 3, 4]), "general");
    }
}
