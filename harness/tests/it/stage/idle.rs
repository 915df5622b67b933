//! Supervisors have one run after the other, as long as nothing stays behind.

use hopcheck::stage::{StageOptions, Supervisors};
use hopcheck::trace::event::Kind;

use super::{impatient, lives, of, options, run, shown};

/// The supervisor of a run, by its process id.
fn supervisor(options: &StageOptions) -> i64 {
    let events = run("names-parent", options);
    let lines = of(&events, Kind::HostOut);
    let text = lines.iter().filter_map(|event| str::from_utf8(event.bytes()?).ok());
    let parent = text.filter_map(|line| line.rsplit_once("parent ")).map(|(_, pid)| pid.parse().unwrap()).next();
    parent.unwrap_or_else(|| panic!("{}", shown(&events)))
}

#[test]
fn a_clean_run_is_followed_by_another_and_the_last_one_ends_it() {
    let options = StageOptions { supervisors: Some(Supervisors::default()), ..options() };
    let first = supervisor(&options);
    assert!(lives(first));
    assert_eq!(supervisor(&options), first);
    drop(options);
    assert!(!lives(first));
}

#[test]
fn a_run_that_was_not_clean_is_the_last_of_its_supervisor() {
    let supervisors = Some(Supervisors::default());
    let patient = StageOptions { supervisors: supervisors.clone(), ..options() };
    // A daemon was left behind; the run had to be ended.
    for (part, options) in [("daemon", &patient), ("hang", &StageOptions { supervisors, ..impatient() })] {
        let before = supervisor(&patient);
        run(part, options);
        assert!(!lives(before), "{part}");
        assert_ne!(supervisor(&patient), before, "{part}");
    }
}

#[test]
fn a_supervisor_that_died_while_it_waited_is_replaced() {
    let options = StageOptions { supervisors: Some(Supervisors::default()), ..options() };
    let first = supervisor(&options);
    let pid = rustix::process::Pid::from_raw(i32::try_from(first).unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    assert_ne!(supervisor(&options), first);
    assert!(!lives(first));
}

#[test]
fn runs_have_supervisors_of_their_own_where_none_are_kept() {
    let first = supervisor(&options());
    assert!(!lives(first));
}
