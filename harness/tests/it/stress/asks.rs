//! Hosts that ask for more than a run may hold. hopcheck ends them before they cost it its memory or its descriptors.

use hopcheck::trace::event::Kind;

use super::{alone, of, run, run_hanging, run_with};
use crate::stage::{CALL, options, shown};

#[test]
fn ten_thousand_requests_to_a_server() {
    alone(|| {
        run("pings").ended("flood").blames("expect.run-ends", "more messages than a run may hold");
    });
}

#[test]
fn ten_thousand_requests_to_the_model() {
    alone(|| {
        run("begs").ended("flood").blames("expect.run-ends", "more messages than a run may hold");
    });
}

#[test]
fn silent_connections() {
    alone(|| {
        let judged = run("crowd");
        judged.ended("exit");
        let noise = of(&judged.events, Kind::ModelNoise);
        let refused =
            noise.iter().any(|event| event.data.str("reason").unwrap().contains("connections at a time"));
        assert!(refused, "{}", shown(&judged.events));
        // Who talks is heard all the same.
        assert_eq!(of(&judged.events, Kind::ModelReply).len(), 2);
    });
}

#[test]
fn three_hundred_servers() {
    alone(|| {
        run("servers").ended("flood").blames("expect.run-ends", "more server processes than a run may hold");
    });
}

#[test]
fn few_bytes_that_are_many_values() {
    alone(|| {
        run("many-values").ended("flood").blames("expect.run-ends", "more values than a run may hold");
    });
}

#[test]
fn large_answers_that_nobody_reads() {
    alone(|| {
        let reply = format!(
            "[[server.orders.tool]]\nname = \"lookup_order\"\ninput_schema = '''{{\"type\":\"object\"}}'''\n\
         [[server.orders.tool.reply]]\nresult = '''{{\"content\":[{{\"type\":\"text\",\"text\":\"{{{{ marker }}}}{}\"}}]}}'''\n\
         [[step]]\ncall",
            "x".repeat(1 << 20)
        );
        let scenario = CALL.replacen("[[step]]\ncall", &reply, 1);
        run_with("unread", &scenario, &options())
            .ended("flood")
            .blames("expect.run-ends", "more bytes in unread answers than a run may hold");
    });
}

#[test]
fn large_bodies_that_never_end() {
    alone(|| {
        run_hanging("bodies")
            .ended("flood")
            .blames("expect.run-ends", "more bytes in unfinished messages than a run may hold");
    });
}

#[test]
fn a_host_that_talks_to_hopcheck_itself() {
    alone(|| {
        let judged = run("intruder");
        judged.ended("exit");
        assert_eq!(of(&judged.events, Kind::ServerStart).len(), 1, "{}", shown(&judged.events));
        assert_eq!(of(&judged.events, Kind::ModelReply).len(), 2);
    });
}
