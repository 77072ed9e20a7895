//! The splitter of streams and the repairer `think` are two machines. Where both can be set to the same rules, they say the
//! same of every text: the repairer, which looks at each char, is the slow twin of the splitter, which looks for marks.

use deadloop_detect::Value;
use deadloop_repair::registry::Repairer;
use deadloop_stream::{Blocks, TagSide, Tags, ThinkOptions, split_think};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

const NAMES: [&str; 3] = ["<think>", "[THINK]", "<|a|>...<|b|>"];

/// Texts of tags and of what is nearly one. Without back-ticks: between them the splitter takes a closing tag for text.
fn text() -> impl Strategy<Value = String> {
    let words = vec![
        "<think>", "</think>", "[THINK]", "[/THINK]", "<|a|>", "<|b|>", "<", "<th", "/think>",
        "</", "[", "x", "so ", " ", "\n", "◁", "<|",
    ];
    vec(select(words), 0..14).prop_map(|words| words.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, ..ProptestConfig::default() })]

    #[test]
    fn the_splitter_and_the_repairer_cut_a_text_alike(text in text(), all in any::<bool>(), opened in any::<bool>()) {
        // The splitter wants the end of a tag that the model repeats after its prompt; the repairer takes any.
        let repeats = ["<think>", "[THINK]", "<|a|>"].iter().any(|tag| text.trim_start().starts_with(tag));
        prop_assume!(!(opened && repeats));
        let repairer = Repairer::find("think").unwrap();
        let mut params = repairer.defaults();
        let word = |word: &str| Value::Text(word.to_owned());
        params.set("tags", Value::List(NAMES.map(word).to_vec()));
        if opened {
            params.set("start", word("open"));
        }
        if all {
            params.set("blocks", word("all"));
            params.set("before", word("any"));
        }
        repairer.check(&params).unwrap();
        let mended = repairer.mend(&params, &text).unwrap();

        let blocks = if all { Blocks::All } else { Blocks::First };
        let tags = Tags::new(&NAMES.map(str::to_owned)).unwrap();
        let (mut reasoning, mut answer) = (String::new(), String::new());
        for (side, piece) in split_think(&text, ThinkOptions { blocks, tags, opened }) {
            match side {
                TagSide::Reasoning => reasoning += &piece,
                TagSide::Answer => answer += &piece,
            }
        }
        prop_assert_eq!((reasoning, answer), (mended.reasoning, mended.text));
    }
}
