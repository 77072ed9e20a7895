use super::*;

#[test]
fn the_well_known_sizes() {
    assert_eq!(
        Claim::Rate(1.0).need(0),
        Some(2_995_733),
        "the rule of three"
    );
    assert_eq!(Claim::Rate(1.0).need(1), Some(4_743_865));
    assert_eq!(Claim::Share(0.1).need(0), Some(29), "0.9^29 = 0.047");
    assert_eq!(Claim::Share(0.1).need(1), Some(46));
    assert_eq!(Claim::Share(0.05).need(0), Some(59));
}

#[test]
fn a_size_is_enough_and_one_less_is_not() {
    for errors in 0..8 {
        let n = Claim::Share(0.2).need(errors).unwrap();
        let lower = |n| proportion_lower(n - errors, n, ALPHA).unwrap();
        assert!(lower(n) >= 0.8 && lower(n - 1) < 0.8);
    }
}

#[test]
fn what_is_not_true_cannot_be_shown() {
    assert_eq!(Claim::Rate(1.0).need_for(1.0, 0.8), None);
    let need = Claim::Rate(1.0).need_for(0.25, 0.8).unwrap();
    assert!(need.power.unwrap() >= 0.8 && need.errors > 0);
    // Nothing ever goes wrong: the least that supports the claim.
    let sure = Claim::Rate(1.0).need_for(0.0, 0.8).unwrap();
    assert_eq!((sure.errors, sure.size), (0, 2_995_733));
}

/// The slow twin: every way in which n pairs can fall.
fn slow(d: Discordant, n: u64) -> f64 {
    let choose = |n: u64, k: u64| (0..k).fold(1.0, |c, i| c * (n - i) as f64 / (i + 1) as f64);
    let mut sum = 0.0;
    for gained in 0..=n {
        for lost in 0..=n - gained {
            let same = n - gained - lost;
            let p = choose(n, gained)
                * choose(n - gained, lost)
                * d.gained.powi(gained as i32)
                * d.lost.powi(lost as i32)
                * (1.0 - d.gained - d.lost).powi(same as i32);
            let both: f64 = (0..=lost.min(gained))
                .map(|k| choose(gained + lost, k))
                .sum();
            let p_value = 2.0 * both / 2.0_f64.powi((gained + lost) as i32);
            if gained > lost && p_value <= ALPHA {
                sum += p;
            }
        }
    }
    sum
}

#[test]
fn the_power_of_mcnemar_is_the_sum_over_all_outcomes() {
    for (gained, lost) in [(0.3, 0.1), (0.2, 0.0), (0.1, 0.1)] {
        let d = Discordant { gained, lost };
        for n in [5, 6, 13, 40] {
            assert!((d.power(n) - slow(d, n)).abs() < 1e-9, "{d:?} {n}");
        }
    }
}

#[test]
fn fewer_than_six_flips_tell_nothing() {
    assert_eq!(
        (most_lost(5), most_lost(6), most_lost(9)),
        (None, Some(0), Some(1))
    );
    let nested = Discordant::nested(0.8, 0.9);
    let n = nested.pairs(0.8).unwrap();
    assert!(nested.power(n) >= 0.8 && nested.power(n / 2) < 0.8);
    assert!(Discordant::independent(0.8, 0.9).pairs(0.8).unwrap() > n);
    assert_eq!(Discordant::nested(0.9, 0.9).pairs(0.8), None);
}

/// As near as a truth may be to a claim, and two settings to each other: an answer comes, and where it is
/// not exact it goes on from where it is.
#[test]
fn what_is_near_is_told_and_not_worked_at_for_ever() {
    for below in [0.05, 0.02, 0.01, 5e-3, 3e-3, 1e-3, 1e-4, 1e-6, 1e-9, 1e-12] {
        for (claim, truth) in [
            (Claim::Share(0.1), 0.1 - below),
            (Claim::Rate(1.0), 1.0 - 10.0 * below),
            (Claim::Share(0.9), 0.9 - below),
        ] {
            let about = claim.about(truth, 0.8).unwrap();
            match claim.need_for(truth, 0.8) {
                Some(need) => {
                    let size = need.size as f64;
                    assert!(need.errors <= MOST_ERRORS && need.power.unwrap() >= 0.8);
                    assert!(
                        (0.7..1.3).contains(&(about / size)),
                        "{claim:?} {below} {size} {about}"
                    );
                }
                None => assert!(claim.about_errors(truth, 0.8).unwrap() > 9_000.0),
            }
        }
        for way in [
            Discordant::nested(0.8, 0.8 + below),
            Discordant::independent(0.8, 0.8 + below),
        ] {
            let about = way.about_pairs(0.8).unwrap();
            match way.pairs(0.8) {
                Some(n) => assert!(
                    (0.6..1.4).contains(&(about / n as f64)),
                    "{way:?} {n} {about}"
                ),
                None => assert!(!way.is_exact(about) || about > MOST as f64, "{way:?}"),
            }
        }
    }
    assert_eq!(Claim::Share(0.1).about(0.1, 0.8), None);
    assert_eq!(Discordant::independent(0.9, 0.9).about_pairs(0.8), None);
}
