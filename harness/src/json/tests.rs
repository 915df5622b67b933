use proptest::prelude::*;

use super::*;

#[track_caller]
fn round_trips(text: &str) {
    assert_eq!(Json::parse(text).unwrap().to_string(), text);
}

#[test]
fn keeps_what_was_written() {
    for text in [
        "9007199254740993",
        "1.0",
        "-0",
        "1e21",
        "123456789012345678901234567890",
        r#"{"b":1,"a":2,"b":3}"#,
        r#""\ud800""#,
        r#""a\udc00b😀""#,
        r#"["",[],{},null,true,false]"#,
    ] {
        round_trips(text);
    }
}

#[test]
fn refuses_what_rfc_8259_refuses() {
    let cases: [(&[u8], usize); 12] = [
        (b"", 0),
        (b"01", 1),
        (b"1.", 2),
        (b"{\"a\":1,}", 7),
        (b"[1,]", 3),
        (b"\"\x01\"", 1),
        (b"\"\\x\"", 1),
        (b"nul", 0),
        (b"{} {}", 3),
        (b"\"\xff\"", 1),
        (b"{\"order_id\": ", 13),
        (b"NaN", 0),
    ];
    for (text, offset) in cases {
        assert_eq!(Json::parse(text).unwrap_err().offset, offset, "{}", String::from_utf8_lossy(text));
    }
    assert!(Json::parse("[".repeat(100_000)).is_err());
}

#[test]
fn numbers_compare_by_value() {
    #[track_caller]
    fn check(a: &str, b: &str, decimal: bool, double: bool) {
        let (a, b) = (Json::parse(a).unwrap(), Json::parse(b).unwrap());
        assert_eq!(a.equals(&b, NumberModel::Decimal), decimal, "{a} {b} as decimals");
        assert_eq!(a.equals(&b, NumberModel::Double), double, "{a} {b} as doubles");
    }
    check("1", "1.0", true, true);
    check("10", "1e1", true, true);
    check("0.10", "1E-1", true, true);
    check("-0", "0", true, true);
    check("0e999999999999999999999999999999999999999", "0", true, true);
    check("9007199254740993", "9007199254740992", false, true);
    check("1", "2", false, false);
    check("1", "-1", false, false);
}

#[test]
fn objects_compare_without_order_but_with_duplicates() {
    let equal = |a: &str, b: &str| Json::parse(a).unwrap().equals(&Json::parse(b).unwrap(), NumberModel::Decimal);
    assert!(equal(r#"{"a":1,"b":2}"#, r#"{"b":2.0,"a":1}"#));
    assert!(!equal(r#"{"a":1,"a":2}"#, r#"{"a":2}"#));
    assert!(!equal(r#"{"a":1,"a":2}"#, r#"{"a":2,"a":1}"#));
    assert!(!equal(r#"{"a":null}"#, "{}"));
}

#[test]
fn pointers_follow_arrays_and_escapes() {
    let json = Json::parse(r#"{"a/b":[{"~":1}]}"#).unwrap();
    assert_eq!(json.pointer("/a~1b/0/~0").and_then(Json::as_i64), Some(1));
    assert_eq!(json.pointer("/a~1b/x"), None);
}

fn any_json() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        "\\PC*".prop_map(Json::from),
    ];
    leaf.prop_recursive(4, 32, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Json::Array),
            prop::collection::vec(("\\PC{0,4}", inner), 0..5).prop_map(Json::object),
        ]
    })
}

proptest! {
    #[test]
    fn parse_undoes_write(json in any_json()) {
        prop_assert_eq!(Json::parse(json.to_string()).unwrap(), json);
    }

    #[test]
    fn never_panics(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        let _ = Json::parse(bytes);
    }

    #[test]
    fn equality_is_reflexive_and_ignores_order(json in any_json()) {
        prop_assert!(json.equals(&json, NumberModel::Decimal));
        prop_assert!(json.sorted().equals(&json, NumberModel::Decimal));
    }
}

#[test]
fn pretty_text_breaks_what_is_too_long_and_means_the_same() {
    let json = Json::parse(r#"{"a":[1,2],"long":["one","two",{"\"x":1.0}],"e":[]}"#).unwrap();
    assert_eq!(json.pretty(80), json.to_string());
    let expected =
        "{\n  \"a\": [1,2],\n  \"long\": [\n    \"one\",\n    \"two\",\n    {\"\\\"x\":1.0}\n  ],\n  \"e\": []\n}";
    assert_eq!(json.pretty(24), expected);
    assert_eq!(Json::parse(json.pretty(1)).unwrap(), json);
}

#[test]
fn few_bytes_are_not_unbounded_values() {
    let many = |count: usize| format!("[{}1]", "1,".repeat(count));
    assert!(Json::parse(many(200_000)).is_ok());
    assert_eq!(Json::parse(many(300_000)).unwrap_err().reason, "too many values");
}
