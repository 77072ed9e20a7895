//! What the tests of repairers share.

use deadloop_repair::meaning::Meaning;
use deadloop_repair::registry::Repairer;
use deadloop_replay::detect::harness::Params;

/// A preset, or the defaults for an empty name.
pub(crate) fn preset(repairer: &str, name: &str) -> (&'static Repairer, Params) {
    let repairer = Repairer::find(repairer).unwrap();
    let params = match name {
        "" => repairer.defaults(),
        name => repairer.preset(name).unwrap(),
    };
    (repairer, params)
}

/// What a whole text meant.
pub(crate) fn whole(repairer: &Repairer, params: &Params, text: &str) -> Meaning {
    repairer.mend(params, text).unwrap()
}
