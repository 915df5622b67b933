//! The example's baseline is strict both ways.

use crate::suite::Copy;

const KNOWN: &str = "numbers/decimals[positions]@2025-11-25+stdio";

#[test]
fn a_failure_that_is_not_in_the_file_is_red() {
    let copy = Copy::new();
    copy.edit("known.toml", |text| text.split("[[known]]").next().unwrap().to_owned());
    copy.run(&[KNOWN, "--exact"]).says(
        101,
        &[
            "the argument `latitude` is 0.9583275921953512 on the wire where the model gave 0.9583275921953511",
            "--> conformance/scenarios/numbers/decimals.toml:9:1",
            "echo  ->  tools/call",
        ],
    );
}

#[test]
fn a_failure_that_is_gone_is_red_until_it_is_taken_out() {
    let copy = Copy::new();
    copy.edit("known.toml", |text| text.replace("decimals[positions]", "decimals[prices]"));
    copy.run(&["numbers/"]).says(
        101,
        &[
            "0 passed; 2 failed",
            "error: `hop.arguments` passes now, and the baseline knows it as fail",
            "--> conformance/known.toml:7:31",
            "remove it, or name the revision or versions in which it still holds",
        ],
    );
}

#[test]
fn a_baseline_that_can_have_no_effect_is_no_baseline() {
    let copy = Copy::new();
    copy.edit("known.toml", |text| text.replace("decimals[positions]", "decimals[position]"));
    let words = ["no scenario `numbers/decimals[position]`", "did you mean `numbers/decimals[positions]`?"];
    copy.run(&["--list"]).says(101, &words);
    let copy = Copy::new();
    copy.edit("known.toml", |text| text.replace("\"acme\"", "\"acne\""));
    copy.run(&["--list"]).says(101, &["a baseline of `acne`", "--> conformance/known.toml:2:8", "`acme`"]);
    let copy = Copy::new();
    copy.edit("known.toml", |text| text.replace("reason", "resaon"));
    copy.run(&["--list"]).says(101, &["unknown key `resaon`", "did you mean `reason`?"]);
}
