//! Documents that are JSON, that nearly are, and that are not at all.

use crate::random::Random;

/// What a mutation puts in: everything that means something to JSON or to UTF-8 at its edges.
const SPLINTERS: &[&[u8]] = &[
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b"\"",
    b"\\",
    b"/",
    b"'",
    b" ",
    b"\t",
    b"\n",
    b"\r",
    b"\x0b",
    b"\x0c",
    b"\0",
    b"\x1f",
    b"\x7f",
    b"0",
    b"1",
    b"9",
    b"-",
    b"+",
    b".",
    b"e",
    b"E",
    b"a",
    b"u",
    b"\\u",
    b"\\ud800",
    b"\\udc00",
    b"\\u0000",
    b"\\n",
    b"\\x",
    b"\\\"",
    b"true",
    b"false",
    b"null",
    b"NaN",
    b"Infinity",
    b"\x80",
    b"\xbf",
    b"\xc0",
    b"\xc1",
    b"\xc2",
    b"\xdf",
    b"\xe0",
    b"\xe1",
    b"\xed",
    b"\xef",
    b"\xf0",
    b"\xf1",
    b"\xf4",
    b"\xf5",
    b"\xff",
    b"\xc3\xa9",
    b"\xe2\x82\xac",
    b"\xe2\x80\xa8",
    b"\xc2\xa0",
    b"\xef\xbb\xbf",
    b"\xf0\x9f\x98\x80",
    b"\xf0\x9f\x98",
    b"\xe2\x82",
    b"\xed\xa0\x80",
    b"\xed\xb0\x80",
    b"\xf0\x80\x80\x80",
    b"\xf4\x8f\xbf\xbf",
    b"\xf4\x90\x80\x80",
    b"\xc0\xa2",
    b"1e400",
    b"-0",
    b"01",
    b"//",
    b"/**/",
    b"holder",
    b"expiresAt",
    b"nonce",
    b"{}",
];

/// The next document. Half of them are left whole, the others are mutated.
pub(crate) fn document(random: &mut Random) -> Vec<u8> {
    let mut out = Vec::new();
    if random.below(50) == 0 {
        out.extend_from_slice("\u{feff}".as_bytes());
    }
    blank(random, &mut out);
    match random.below(20) {
        0..11 => body(random, &mut out),
        11..16 => value(random, &mut out, 5),
        16 => number(random, &mut out),
        17 => deep(random, &mut out),
        _ => (0..random.below(30)).for_each(|_| out.extend_from_slice(random.pick(SPLINTERS))),
    }
    blank(random, &mut out);
    if random.below(2) == 0 {
        (0..1 + random.below(3)).for_each(|_| mutate(random, &mut out));
    }
    out
}

fn mutate(random: &mut Random, out: &mut Vec<u8>) {
    let at = random.below(out.len() + 1);
    let end = (at + random.below(8)).min(out.len());
    match random.below(8) {
        0 => out.truncate(at),
        1 => drop(out.drain(at..end)),
        2 => {
            let again = out[at..end].to_vec();
            out.splice(at..at, again);
        }
        3 if at < end => out[at] = random.next() as u8,
        4 if at < end => out[at] ^= 1 << random.below(8),
        5 if at < end => drop(out.splice(at..end, random.pick(SPLINTERS).iter().copied())),
        _ => drop(out.splice(at..at, random.pick(SPLINTERS).iter().copied())),
    }
}

/// Mostly nothing.
fn blank(random: &mut Random, out: &mut Vec<u8>) {
    if random.below(6) == 0 {
        (0..random.below(4)).for_each(|_| out.push(random.pick(b" \t\n\r")));
    }
    if random.below(40) == 0 {
        out.push(b'\n');
        out.resize(out.len() + random.below(20), b' ');
    }
}

/// An object with the members of a holding's body, more or fewer, in any order, some twice.
fn body(random: &mut Random, out: &mut Vec<u8>) {
    let members = match random.below(4) {
        0 => vec!["holder", "expiresAt"],
        1 => vec!["holder", "expiresAt", "nonce"],
        _ => (0..random.below(7))
            .map(|_| random.pick(&["holder", "holder", "expiresAt", "expiresAt", "nonce", ""]))
            .collect(),
    };
    list(random, out, b"{}", members.len(), |random, out, at| {
        match members[at] {
            "" => string(random, out),
            key => spell(random, out, key),
        }
        colon(random, out);
        match (members[at], random.below(8)) {
            ("holder" | "nonce", 1..) => string(random, out),
            ("expiresAt", 1..) => number(random, out),
            _ => value(random, out, 3),
        }
    });
}

/// A string of plain letters, each as itself or as an escape.
fn spell(random: &mut Random, out: &mut Vec<u8>, text: &str) {
    let plain = random.below(4) != 0;
    out.push(b'"');
    for byte in text.bytes() {
        if plain || random.below(3) != 0 {
            out.push(byte);
        } else {
            out.extend_from_slice(format!("\\u{byte:04x}").as_bytes());
        }
    }
    out.push(b'"');
}

fn value(random: &mut Random, out: &mut Vec<u8>, levels: usize) {
    match random.below(if levels == 0 { 5 } else { 8 }) {
        0 => string(random, out),
        1 => number(random, out),
        2 => out.extend_from_slice(random.pick(&["true", "null"]).as_bytes()),
        3 => out.extend_from_slice(b"false"),
        4 => out.extend_from_slice(random.pick(&["[]", "{}", "\"\"", "0"]).as_bytes()),
        5 => {
            let length = random.below(5);
            list(random, out, b"[]", length, |random, out, _| value(random, out, levels - 1));
        }
        6 => {
            let length = random.below(5);
            list(random, out, b"{}", length, |random, out, _| {
                // Names that are there twice, that JavaScript reorders, and that it inherits.
                match random.pick(&[
                    "",
                    "a",
                    "b",
                    "10",
                    "9",
                    "-1",
                    "length",
                    "__proto__",
                    "toString",
                ]) {
                    "" => string(random, out),
                    name => spell(random, out, name),
                }
                colon(random, out);
                value(random, out, levels - 1);
            });
        }
        _ => body(random, out),
    }
}

fn list(
    random: &mut Random,
    out: &mut Vec<u8>,
    brackets: &[u8; 2],
    length: usize,
    mut each: impl FnMut(&mut Random, &mut Vec<u8>, usize),
) {
    out.push(brackets[0]);
    blank(random, out);
    for at in 0..length {
        if at > 0 {
            out.push(b',');
            blank(random, out);
        }
        each(random, out, at);
        blank(random, out);
    }
    out.push(brackets[1]);
}

fn colon(random: &mut Random, out: &mut Vec<u8>) {
    blank(random, out);
    out.push(b':');
    blank(random, out);
}

fn string(random: &mut Random, out: &mut Vec<u8>) {
    out.push(b'"');
    // One in sixteen is long enough to be looked at in stretches.
    let length = if random.below(16) == 0 { random.below(120) } else { random.below(8) };
    for _ in 0..length {
        match random.below(16) {
            0 => out.extend_from_slice(
                random.pick(&[r"\n", r"\\", r#"\""#, r"\/", r"\b", r"\f", r"\t", r"\r"]).as_bytes(),
            ),
            1 => out.extend_from_slice(format!("\\u{:04x}", random.next() as u16).as_bytes()),
            2 => {
                out.extend_from_slice(format!("\\u{:04X}", 0xD800 + random.below(0x800)).as_bytes())
            }
            3 => out.extend_from_slice(
                random
                    .pick(&["é", "€", "😀", "\u{2028}", "\u{fffd}", "\u{7f}", "\u{10ffff}"])
                    .as_bytes(),
            ),
            4 => out.extend((0..1 + random.below(5)).map(|_| 0x80 | random.next() as u8)),
            _ => out.push(
                b"abcdefghijklmnopqrstuvwxyz !#$%&'()*+,-./0123456789:;<=>?@[]^_`{|}~"
                    [random.below(66)],
            ),
        }
    }
    out.push(b'"');
}

fn number(random: &mut Random, out: &mut Vec<u8>) {
    let any = f64::from_bits(random.next());
    let text = match random.below(10) {
        0 => format!("{}", random.next() as i32),
        1 => format!("{}", 1_700_000_000_000 + random.below(1 << 40)),
        2 => format!("{}", 1.7e12 + random.below(1 << 50) as f64 / 1024.0),
        3 if any.is_finite() => format!("{any:e}"),
        4 if any.is_finite() => format!("{any}"),
        5 if any.is_finite() => format!("{any:.*e}", random.below(25)),
        6 if random.below(500) == 0 => far(random),
        6 => halfway(random),
        _ => digits(random),
    };
    out.extend_from_slice(text.as_bytes());
}

/// A whole number right between two doubles, or off by less than any double could tell.
fn halfway(random: &mut Random) -> String {
    let shift = 1 + random.below(60);
    let between = u128::from(random.next() >> 11 | 1 << 52) << shift | 1 << (shift - 1);
    let zeros = "0".repeat(random.below(40) * random.below(40));
    match random.below(4) {
        0 => format!("{between}"),
        1 => format!("{}.9{zeros}9", between - 1),
        2 => format!("{between}.{zeros}{}", random.below(2)),
        _ => format!("0.{zeros}{between}e+{}", zeros.len() + between.to_string().len()),
    }
}

/// More digits than any exponent of a common number, and the exponent that takes them back.
fn far(random: &mut Random) -> String {
    let zeros = "0".repeat(random.pick(&[40, 40_000, 700_000]));
    let digits = random.next();
    let near = random.below(40);
    match random.below(3) {
        0 => format!("-0.{zeros}{digits}e{}", zeros.len() + near),
        1 => format!("{digits}{zeros}.{digits}e-{}", zeros.len() + near),
        _ => format!("{digits}{zeros}E+{digits}"),
    }
}

/// Digits as the grammar has them.
fn digits(random: &mut Random) -> String {
    let mut text = String::new();
    let run = |random: &mut Random, most: usize| {
        let length = 1 + random.below(most);
        (0..length).map(|_| char::from(b'0' + random.below(10) as u8)).collect::<String>()
    };
    text.push_str(random.pick(&["", "", "-"]));
    let whole = run(random, 20);
    let whole = whole.trim_start_matches('0');
    text.push_str(if whole.is_empty() { "0" } else { whole });
    if random.below(2) == 0 {
        text.push('.');
        text.push_str(&run(random, 25));
    }
    if random.below(2) == 0 {
        text.push_str(random.pick(&["e", "E", "e-", "E-", "e+", "E+"]));
        text.push_str(&run(random, 3));
    }
    text
}

/// Brackets within brackets, closed as they should be or by one too many or too few.
fn deep(random: &mut Random, out: &mut Vec<u8>) {
    let depth = match random.below(8) {
        0 => 1 + random.below(5_000),
        _ => 1 + random.below(150),
    };
    let kinds: Vec<bool> = (0..depth).map(|_| random.below(2) == 0).collect();
    if random.below(2) == 0 {
        out.extend_from_slice(br#"{"holder":"a","expiresAt":7,"x":"#);
    }
    let start = out.len();
    kinds.iter().for_each(|object| out.extend_from_slice(if *object { br#"{"a":"# } else { b"[" }));
    value(random, out, 1);
    kinds.iter().rev().for_each(|object| out.push(if *object { b'}' } else { b']' }));
    if start > 2 {
        out.push(b'}');
    }
    match random.below(10) {
        0 => drop(out.pop()),
        1 => out.push(b']'),
        _ => (),
    }
}
