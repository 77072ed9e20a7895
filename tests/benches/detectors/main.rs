//! What a detector costs beside a compressor, on which text it costs most, and what a large grid adds.
//!
//! ```sh
//! cargo bench --workspace --bench detectors
//! ```
//!
//! One thread; the text is 50 MB of the recordings beside the project, else the starter corpus, a
//! meter a text as a live integration has one a request, all in one run. What is held against each other
//! takes turns, since a shared machine has slow and fast minutes. Seconds are the thread's own CPU time, the
//! least of [`ROUNDS`] rounds; a ratio is the median of those of each round, which had one minute for
//! both. The ratios are what is claimed: one beyond its target ends with exit code 1.

mod hard;
#[path = "../turns/mod.rs"]
mod turns;

use std::error::Error;
use std::hint::black_box;
use std::io::Write as _;
use std::path::Path;

use deadloop_corpus::{Corpus, Transcript};
use deadloop_detect::harness::{DETECTORS, EventPlace, Measurement, Recipe};
use deadloop_detect::{Channel, Event, Setting, Settings, TextChannel};
use deadloop_replay::{Grid, Plan, decide};
use turns::{least, times, turns};

const ROUNDS: usize = 9;
const BYTES: usize = 50_000_000;
/// 10 x 10 x 10 x 10 thresholds.
const GRID: &str = "
[[guard]]
detector = 'periodic'
[guard.params]
min_copies = { from = 4, to = 13, step = 1 }
min_chars = { from = 200, to = 1100, step = 100 }
min_single = { from = 200, to = 1100, step = 100 }
min_bare = { from = 200, to = 1100, step = 100 }
";

fn main() -> Result<(), Box<dyn Error>> {
    let transcripts = recorded()?;
    let texts: Vec<String> = transcripts.iter().map(text).collect();
    let bytes: usize = texts.iter().map(String::len).sum();
    let chars: usize = texts.iter().map(|t| t.chars().count()).sum();
    println!(
        "{} texts, {:.1} MB, {:.1} M chars\n",
        texts.len(),
        bytes as f64 / 1e6,
        chars as f64 / 1e6
    );

    let (default, recommended) = (setting("periodic")?, Settings::default().guard().clone());
    let sentences = recommended.filter(|member| member.params.text("on") == "sentences");
    let listed = r"ignore = ['^\s*\|', '^\s*\}$']";
    let listed = format!("{listed}\n[[guard]]\ndetector = \"periodic\"");
    let listed = Settings::parse(&listed)?.guard().clone();
    let [deflate, whole, periodic, guard, counting, leaving] = turns(
        ROUNDS,
        [
            &mut || texts.iter().for_each(|t| deflated(&[t])),
            &mut || deflated(&texts.iter().collect::<Vec<_>>()),
            &mut || push(&default, &texts),
            &mut || push(&recommended, &texts),
            &mut || push(&sentences, &texts),
            &mut || push(&listed, &texts),
        ],
    );
    let (one, all) = (least(&deflate), least(&whole));
    println!("flate2, level 1: {one:.3} s a text at a time, {all:.3} s in one stream");
    let (took, beside) = (least(&periodic), times(&periodic, &deflate));
    println!("periodic, defaults: {took:.3} s");
    let mut held = at_most(2.0, "times flate2, a text at a time", beside);
    held &= at_most(2.0, "times flate2, in one stream", times(&periodic, &whole));
    println!("the recommended guard: {:.3} s", least(&guard));
    held &= at_most(2.5, "times periodic", times(&guard, &periodic));
    println!("its member of sentences: {:.3} s", least(&counting));
    held &= at_most(2.0, "times periodic", times(&counting, &periodic));
    println!(
        "periodic with two patterns to ignore: {:.3} s",
        least(&leaving)
    );
    held &= at_most(5.0, "times periodic", times(&leaving, &periodic));
    println!();

    presets_cost(&texts, chars)?;
    held &= hard_texts(&texts)?;
    held &= grid(&transcripts)?;
    held.then_some(())
        .ok_or("a ratio is beyond its target".into())
}

/// Says whether a ratio is within its target.
fn at_most(target: f64, what: &str, ratio: f64) -> bool {
    let held = ratio <= target;
    let word = if held { "holds" } else { "DOES NOT HOLD" };
    println!("  {what}: {ratio:.2} (target: at most {target}): {word}");
    held
}

/// What each preset costs, on a tenth of the text.
fn presets_cost(texts: &[String], chars: usize) -> Result<(), Box<dyn Error>> {
    let some: Vec<String> = texts.iter().step_by(10).cloned().collect();
    let own: usize = some.iter().map(|t| t.chars().count()).sum();
    println!("ns a char, on {own} of {chars} chars:");
    for detector in DETECTORS {
        for preset in detector.presets()? {
            let text = format!(
                "[[guard]]\ndetector = '{}'\npreset = '{}'",
                detector.name, preset.name
            );
            let setting = Settings::parse(&text)?.guard().clone();
            let [took] = turns(ROUNDS, [&mut || push(&setting, &some)]).map(|took| least(&took));
            println!(
                "  {:12} {:16} {:7.1}",
                detector.name,
                preset.name,
                took * 1e9 / own as f64
            );
        }
    }
    println!();
    Ok(())
}

/// What `periodic` leaves out when it compares, and what it compares.
const FOLDS: [(&str, &str); 5] = [
    ("indent", "chars"),
    ("markers", "chars"),
    ("numerals", "chars"),
    ("counters", "chars"),
    ("counters", "sentences"),
];

/// The defaults of each detector, and of `periodic` with each fold, on the text made to be costly that costs it most.
fn hard_texts(texts: &[String]) -> Result<bool, Box<dyn Error>> {
    let natural: [String; 1] = [texts.concat().chars().take(hard::CHARS).collect()];
    let hard = hard::texts();
    let mut held = true;
    println!("on the hardest text, times natural text, a char:");
    let of_text = DETECTORS
        .iter()
        .filter(|detector| matches!(detector.measure, Measurement::Text(_)));
    let mut settings = Vec::new();
    for detector in of_text {
        settings.push((detector.name.to_owned(), setting(detector.name)?));
    }
    for (fold, on) in FOLDS {
        let text = format!(
            "[[guard]]\ndetector = 'periodic'\nchannel = 'answer'\nparams = {{ fold = '{fold}', on = '{on}' }}"
        );
        let setting = Settings::parse(&text)?.guard().clone();
        settings.push((format!("periodic, {fold} folded, on {on}"), setting));
    }
    for (name, setting) in settings {
        let cost = |(name, text): &(&'static str, [String; 1])| {
            let [plain, hard] = turns(
                ROUNDS,
                [&mut || push(&setting, &natural), &mut || {
                    push(&setting, text)
                }],
            );
            let chars = text[0].chars().count() as f64 / hard::CHARS as f64;
            (times(&hard, &plain) / chars, *name)
        };
        let worst = hard.iter().map(cost).max_by(|a, b| a.0.total_cmp(&b.0));
        let (ratio, hardest) = worst.ok_or("there are hard texts")?;
        held &= at_most(10.0, &format!("{name}, {hardest}"), ratio);
    }
    println!();
    Ok(held)
}

/// What 100,000 threshold cells add to measuring once.
fn grid(transcripts: &[Transcript]) -> Result<bool, Box<dyn Error>> {
    let mut plan = Plan::default();
    let cells = plan.add_grid(&Grid::parse(GRID)?)?.len();
    let mut one = Plan::default();
    // On both channels, as the grid.
    one.add_setting(Settings::parse("[[guard]]\ndetector = 'periodic'")?.guard());
    let replay = |plan: &Plan| {
        for transcript in transcripts {
            black_box(decide(plan, transcript, None));
        }
    };
    let [once, swept] = turns(ROUNDS, [&mut || replay(&one), &mut || replay(&plan)]);
    let (one, all) = (least(&once), least(&swept));
    println!("replay of one cell {one:.3} s, of {cells} cells {all:.3} s");
    Ok(at_most(1.5, "times one cell", times(&swept, &once)))
}

/// A detector at its defaults, on one channel.
fn setting(detector: &str) -> Result<Setting, Box<dyn Error>> {
    let text = format!("[[guard]]\ndetector = '{detector}'\nchannel = 'answer'");
    Ok(Settings::parse(&text)?.guard().clone())
}

/// Pushes each text as an answer into every member that watches answers. A guard that has alarmed would stop reading.
fn push(setting: &Setting, texts: &[String]) {
    let members = setting
        .members
        .iter()
        .filter(|m| m.watches(Channel::Answer));
    let recipes: Vec<Recipe> = members.filter_map(|m| m.recipe()).collect();
    let mut facts = Vec::new();
    for text in texts {
        for recipe in &recipes {
            facts.clear();
            let event = Event::Text(TextChannel::Answer, text);
            let mut meter = recipe.meter(Channel::Answer);
            meter.push(&event, EventPlace::default(), &mut facts);
            black_box(&facts);
        }
    }
}

fn deflated(texts: &[&String]) {
    let mut encoder =
        flate2::write::DeflateEncoder::new(std::io::sink(), flate2::Compression::new(1));
    for text in texts {
        // A sink takes everything.
        let _ = encoder.write_all(text.as_bytes());
    }
    let _ = encoder.finish();
}

fn text(transcript: &Transcript) -> String {
    let piece = |channel| {
        transcript.events.iter().filter_map(move |e| match &e.body {
            deadloop_corpus::Body::Reasoning(t) if channel == Channel::Reasoning => {
                Some(t.as_str())
            }
            deadloop_corpus::Body::Answer(t) if channel == Channel::Answer => Some(t.as_str()),
            _ => None,
        })
    };
    Channel::TEXT.into_iter().flat_map(piece).collect()
}

fn recorded() -> Result<Vec<Transcript>, Box<dyn Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let real = root.join("../shared/data/real");
    let path = if real.is_dir() {
        real
    } else {
        root.join("datasets/starter")
    };
    let mut bytes = 0;
    let mut all = Vec::new();
    for entry in Corpus::open(&path)?.entries() {
        let transcript = entry?.transcript;
        bytes += text(&transcript).len();
        all.push(transcript);
        if bytes >= BYTES {
            break;
        }
    }
    Ok(all)
}
