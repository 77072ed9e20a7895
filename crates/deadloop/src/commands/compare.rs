//! `deadloop compare`: compares two settings on the same transcripts, and judges the gate.

pub(super) use deadloop_run::compare::ComparisonOptions;
use deadloop_run::compare::compare;

use crate::args::GlobalArgs;
use crate::exit::Outcome;
use crate::host::Terminal;
use crate::show;

pub(crate) const HELP: &str = "Examples:\n  deadloop compare reports/baseline fresh\n  deadloop compare old.toml new.toml --corpus datasets/starter --out compared --markdown summary.md\n  deadloop compare document vllm --corpus datasets/starter --fail-on never\n  deadloop compare baseline fresh --bless\n\nA side that is not a folder is replayed on the corpus; --set changes NEW. The setting of a folder is the choice of tune or the current one of replay, unless --base-setting or --new-setting names another. Equal texts count once, in estimates, intervals and tests. Intervals are of a paired bootstrap over groups; ended, recall, fpr and the rate of wrong alarms are tested by exact sign flips over groups, the other metrics by their intervals. A metric has improved or regressed if its difference is more than chance and beyond the noise. It is equivalent if the 95 % interval is inside the noise. Otherwise it is inconclusive. Of all models together, loops ended and wrong alarms decide on NEW; the other rows are told.\n\n--bless makes NEW the baseline after the comparison is shown, whatever the gate says: BASE gets the tables of NEW (CSV, settings.toml) and its manifest, and no report. A folder BASE that does not exist is made.\n\nExit codes: 0 passed, 3 not comparable (other transcripts, texts or labels, an error), 4 nothing selected, 5 a gate could not be evaluated, 100 a gate failed.";

pub(super) fn run(args: &ComparisonOptions, global: GlobalArgs) -> Outcome {
    let compared = compare(args, &Terminal::new(global))?;
    if compared.comparison.is_some() || compared.refused.is_some() {
        show::print_answer(&compared, global)?;
    }
    if let Some(failure) = compared.failure {
        return Err(failure);
    }
    let (base, new) = (show::typed(&args.base), show::typed(&args.new));
    let corpus = args.corpus.as_deref().map(show::typed);
    let folders = args.base.is_dir() && args.new.is_dir();
    let next = match corpus {
        _ if args.write.bless => format!("deadloop compare {base} NEW"),
        Some(corpus) if !folders => {
            format!(
                "deadloop replay {corpus} --settings {new} --settings {base} --out compared-replay"
            )
        }
        _ => format!("deadloop compare {base} {new} --bless"),
    };
    show::print_next(&[next], global)
}
