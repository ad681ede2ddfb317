use super::*;

fn is_json(bytes: &[u8]) -> bool {
    read(bytes, |_| ()).is_ok()
}

/// A document's string, its escapes resolved; `None` when the document is not JSON.
fn units(bytes: &[u8]) -> Option<Vec<u16>> {
    let text = read(bytes, |value| value.text()).ok()?;
    Some(text.expect("a string").units())
}

/// A document read through the handles as deep as it goes: they must judge as passing over does.
fn is_json_when_read(bytes: &[u8]) -> bool {
    fn visit(value: Value<'_, '_>) {
        match value.kind() {
            Some(Kind::Object) => {
                value.object(|_, member| visit(member));
            }
            Some(Kind::Array) => {
                value.array(visit);
            }
            Some(Kind::Text) => {
                value.text();
            }
            _ => {
                value.number();
            }
        }
    }
    read(bytes, visit).is_ok()
}

/// Guards the grammar: what JSON.parse takes is taken, so that no live body is judged damaged.
#[test]
fn json_is_accepted() {
    for document in [
        "0",
        "-0",
        "1e5",
        "1E+5",
        "-1.5e-7",
        "0.0",
        "0e0",
        "1e400",
        "12345678901234567890",
        "true",
        "false",
        "null",
        r#""""#,
        r#""\u0000\"\\\/\b\f\n\r\t""#,
        "\"\u{7f}\u{2028}\u{2029}é😀\"",
        r#""\ud800""#,
        r#""\uDFFF\uD800""#,
        "[]",
        "[ ]",
        "{}",
        "{ }",
        "[1,2]",
        "[[],{},[{}]]",
        " \t\r\n[ \t\r\n1 \t\r\n, \t\r\n2 \t\r\n] \t\r\n",
        r#"{"":0}"#,
        r#" { "a" : { "a" : [ ] } } "#,
        r#"{"a":1,"a":2}"#,
        r#"{"__proto__":null}"#,
        "{\n          \"a\": 1,\n                 \"b\": [\n        2\n    ]\n}\n\n\n        ",
    ] {
        assert!(is_json(document.as_bytes()), "{document}");
        assert!(is_json_when_read(document.as_bytes()), "{document}");
    }
}

/// Guards the other side: what JSON.parse refuses is refused, so that no garbage locks a run; and
/// the place that is reported.
#[test]
fn everything_else_is_refused_at_the_byte_that_is_wrong() {
    for (document, at) in [
        ("", 0),
        ("  ", 2),
        ("{", 1),
        ("[", 1),
        ("\"", 1),
        ("\"a", 2),
        ("}", 0),
        ("]", 0),
        (",", 0),
        (":", 0),
        ("[1", 2),
        ("[1,", 3),
        ("[1,]", 3),
        ("[,1]", 1),
        ("[1 2]", 3),
        ("[1}", 2),
        ("{]", 1),
        (r#"{"a"}"#, 4),
        (r#"{"a":}"#, 5),
        (r#"{"a":1,}"#, 7),
        (r#"{"a":1"#, 6),
        (r#"{"a":1]"#, 6),
        (r#"{"a" 1}"#, 5),
        ("{a:1}", 1),
        ("{1:1}", 1),
        ("{,}", 1),
        (r#"{"a"::1}"#, 5),
        (r#"{"a":1 "b":2}"#, 7),
        (r#"{"a":[1,{"b":2]}"#, 14),
        ("[[]", 3),
        ("01", 1),
        ("-", 1),
        ("+1", 0),
        (".5", 0),
        ("1.", 2),
        ("1.e5", 2),
        ("1e", 2),
        ("1e+", 3),
        ("1.5.5", 3),
        ("0x10", 1),
        ("-01", 2),
        ("--1", 1),
        ("1_000", 1),
        ("- 1", 1),
        ("-a", 1),
        ("NaN", 0),
        ("Infinity", 0),
        ("-Infinity", 1),
        ("undefined", 0),
        ("tru", 3),
        ("truE", 3),
        ("True", 0),
        ("nul", 3),
        ("nullx", 4),
        ("truefalse", 4),
        ("fals", 4),
        ("1 2", 2),
        ("{}{}", 2),
        ("'a'", 0),
        (r#""\x41""#, 2),
        (r#""\'""#, 2),
        (r#""\u12""#, 5),
        (r#""\u123g""#, 6),
        (r#""\U0041""#, 2),
        (r#""\"#, 2),
        (r#""\u"#, 3),
        ("\"\t\"", 1),
        ("\"\n\"", 1),
        ("\"\0\"", 1),
        ("\"\u{1f}\"", 1),
        ("// a\n1", 0),
        ("1/**/", 1),
        ("\u{feff}1", 0),
        ("\u{a0}1", 0),
        ("1\u{2028}", 1),
        ("\u{b}1", 0),
        ("\u{c}1", 0),
        ("\x001", 0),
        ("1\0", 1),
        ("é", 0),
    ] {
        let outcome = read(document.as_bytes(), |_| ());
        assert_eq!(outcome, Err(NotJson { at }), "{document:?}");
        let outcome = read(document.as_bytes(), |value| value.object(|_, _| ()));
        assert_eq!(outcome, Err(NotJson { at }), "{document:?} as an object");
        assert!(!is_json_when_read(document.as_bytes()), "{document:?}");
    }
    assert!(!is_json(b"\xff"), "invalid UTF-8 outside a string");
    assert!(!is_json(b"[1,\xc3\xa9]"), "valid UTF-8 outside a string");
}

/// Guards the scan by words and by stretches: each byte, at each place in a string long enough for
/// every one of them, next to bytes that could leak into its neighbours' bits.
#[test]
fn every_byte_is_judged_alike_wherever_it_stands() {
    const LAST: usize = 171;
    for filler in [b'a', b'!', b'#', 0x7f, 0x80, 0xff] {
        for byte in 0..=u8::MAX {
            for place in 1..LAST {
                let mut document = [filler; LAST + 1];
                (document[0], document[LAST]) = (b'"', b'"');
                document[place] = byte;
                let wanted = match byte {
                    0..b' ' => Err(NotJson { at: place }),
                    // The string ends there, and what follows is too much.
                    b'"' => Err(NotJson { at: place + 1 }),
                    // No filler is an escape; the last quote is one, and the string has no end.
                    b'\\' => Err(NotJson { at: place + 1 + usize::from(place == LAST - 1) }),
                    _ => Ok(()),
                };
                let outcome = read(&document, |_| ());
                assert_eq!(outcome, wanted, "{byte:#x} at {place} among {filler:#x}");
            }
        }
    }
}

/// Guards escapes at every place, and that a run of backslashes pairs up from its start.
#[test]
fn escapes_are_found_wherever_they_stand() {
    for before in 0..170 {
        for (escape, unit) in [(r"\n", 0x0A), (r"\u00e9", 0xE9), (r"\\", 0x5C), (r#"\""#, 0x22)] {
            let filler = "x".repeat(before);
            let mut wanted = vec![u16::from(b'x'); before];
            wanted.extend([unit, unit, u16::from(b'y')]);
            let document = format!("\"{filler}{escape}{escape}y\"");
            assert_eq!(units(document.as_bytes()), Some(wanted), "{document}");
            assert!(!is_json(format!("\"{filler}{escape}\\\"").as_bytes()), "the quote is escaped");
        }
    }
}

/// Guards the use of the handles: members come in order with their duplicates, whatever the caller
/// leaves unread is passed over, and asking for the wrong kind is answered, not an error.
#[test]
fn members_are_told_in_order_and_need_not_be_read() {
    let document =
        br#"{"a":[1,{"b":2}],"b":"x","a":3,"c":null,"d":{"e":[true],"e":4},"f":[5,[6]]}"#;
    let mut told = Vec::new();
    let is_object = read(document, |value| {
        value.object(|key, member| {
            let kind = member.kind();
            let mut inner = Vec::new();
            if key.is("a") {
                inner.extend(member.number());
            } else if key.is("d") {
                member.object(|_, value| inner.extend(value.number()));
            } else if key.is("f") {
                member.array(|value| inner.extend(value.number()));
            } else if key.is("c") {
                assert!(!member.object(|_, _| ()), "null is not an object");
            }
            told.push((key.string(), kind, inner));
        })
    });
    assert_eq!(is_object, Ok(true));
    let name = |name: &str| Some(name.to_owned());
    assert_eq!(
        told,
        [
            (name("a"), Some(Kind::Array), vec![]),
            (name("b"), Some(Kind::Text), vec![]),
            (name("a"), Some(Kind::Number), vec![3.0]),
            (name("c"), Some(Kind::Null), vec![]),
            (name("d"), Some(Kind::Object), vec![4.0]),
            (name("f"), Some(Kind::Array), vec![5.0]),
        ]
    );
    assert_eq!(read(b"[]", |value| value.object(|_, _| ())), Ok(false));
    let boolean = |document: &str| read(document.as_bytes(), |value| value.boolean());
    assert_eq!((boolean("true"), boolean(" false")), (Ok(Some(true)), Ok(Some(false))));
    assert_eq!((boolean("null"), boolean("\"true\"")), (Ok(None), Ok(None)));
    assert_eq!(boolean("truth"), Err(NotJson { at: 3 }));
}

/// Guards that an error cannot be lost by a caller that ignores what a handle answers.
#[test]
fn an_error_anywhere_fails_the_document() {
    for document in [r#"{"a":{"b":[1,{"c":tru}]}}"#, r#"{"a":{"b":"\x"}}"#, r#"{"a":{"b":1.}}"#] {
        let mut told = 0;
        let outcome = read(document.as_bytes(), |value| {
            value.object(|_, a| {
                a.object(|_, b| {
                    told += 1;
                    match b.kind() {
                        Some(Kind::Text) => assert!(b.text().is_none()),
                        Some(Kind::Number) => assert_eq!(b.number(), None),
                        _ => {
                            b.array(|element| {
                                element.object(|_, c| assert_eq!(c.number(), None));
                            });
                        }
                    }
                });
            })
        });
        assert!(outcome.is_err(), "{document}");
        assert_eq!(told, 1);
    }
}

/// Guards that depth is no limit: recursion would overflow the stack of a worker's thread.
#[test]
fn nesting_of_any_depth_is_legal() {
    for depth in [1, 2, 63, 64, 65, 127, 128, 129, 1000, 1_000_000] {
        for (open, close) in [("[", "]"), (r#"{"a":"#, "}"), (r#"[{"a":"#, "}]")] {
            let document = open.repeat(depth) + "1" + &close.repeat(depth);
            assert!(is_json(document.as_bytes()), "{open} {depth} deep");
            let short = &document.as_bytes()[..document.len() - 1];
            assert_eq!(read(short, |_| ()), Err(NotJson { at: short.len() }));
            assert!(!is_json((document + close).as_bytes()));
        }
    }
    // Brackets that differ, so that each level is remembered and not only their number.
    let kinds = |level: usize| level.wrapping_mul(0x9E37_79B9) >> 7 & 1 == 1;
    let open: String = (0..300).map(|level| if kinds(level) { r#"{"a":"# } else { "[" }).collect();
    let close: String = (0..300).rev().map(|level| if kinds(level) { '}' } else { ']' }).collect();
    assert!(is_json(format!("{open}0{close}").as_bytes()));
    for wrong in 0..300 {
        let mut close = close.clone().into_bytes();
        close[wrong] = if close[wrong] == b'}' { b']' } else { b'}' };
        assert!(!is_json(&[open.as_bytes(), b"0", &close].concat()), "level {wrong}");
    }
}
