//! People.

use std::fmt::Write;

use super::model::FIRST_PERSON;
use super::record::RecordField;
use super::strings::words;
use crate::synthetic::Draws;

pub(super) const FIELDS: &[RecordField] = &[
    RecordField::long("id", |records| records.longs(|event, _| event.last_person + FIRST_PERSON)),
    RecordField::text("name", |records| records.texts(|_, draws, out| name(draws, out))),
    RecordField::text("emailAddress", |records| records.texts(|_, draws, out| email(draws, out))),
    RecordField::text("creditCard", |records| records.texts(|_, draws, out| credit_card(draws, out))),
    RecordField::text("city", |records| records.texts(|_, draws, out| out.push_str(one_of(&CITIES, draws)))),
    RecordField::text("state", |records| records.texts(|_, draws, out| out.push_str(one_of(&STATES, draws)))),
    RecordField::time("dateTime", |records| records.event_times()),
    RecordField::extra(
        |model| model.person_size as usize,
        |records| {
            let model = records.model;
            let [of_name, of_email, of_city] =
                ["name", "emailAddress", "city"].map(|field| model.sequence(&format!("person.{field}")));
            records.extras(model.person_size, move |event, text| {
                name(&mut of_name.at(event.number), text);
                email(&mut of_email.at(event.number), text);
                let city = one_of(&CITIES, &mut of_city.at(event.number));
                ID_BYTES + text.len() + CARD_BYTES + city.len() + STATE_BYTES
            })
        },
    ),
];

const ID_BYTES: usize = 8;
const CARD_BYTES: usize = 19;
const STATE_BYTES: usize = 2;

const STATES: [&str; 6] = ["AZ", "CA", "ID", "OR", "WA", "WY"];
const CITIES: [&str; 10] =
    ["Phoenix", "Los Angeles", "San Francisco", "Boise", "Portland", "Bend", "Redmond", "Seattle", "Kent", "Cheyenne"];
const FIRST_NAMES: [&str; 11] =
    ["Peter", "Paul", "Luke", "John", "Saul", "Vicky", "Kate", "Julie", "Sarah", "Deiter", "Walter"];
const LAST_NAMES: [&str; 9] = ["Shultz", "Abrams", "Spencer", "White", "Bartels", "Walton", "Smith", "Jones", "Noris"];

fn one_of<'a>(list: &[&'a str], draws: &mut Draws) -> &'a str {
    list[draws.below(list.len() as u64) as usize]
}

fn name(draws: &mut Draws, out: &mut String) {
    out.push_str(one_of(&FIRST_NAMES, draws));
    out.push(' ');
    out.push_str(one_of(&LAST_NAMES, draws));
}

fn email(draws: &mut Draws, out: &mut String) {
    words(draws, 7, b' ', out);
    out.push('@');
    words(draws, 5, b' ', out);
    out.push_str(".com");
}

/// Four times four digits.
fn credit_card(draws: &mut Draws, out: &mut String) {
    let mut digits = || draws.below(10_000);
    let (a, b, c, d) = (digits(), digits(), digits(), digits());
    // Writing to a string can't fail.
    let _ = write!(out, "{a:04} {b:04} {c:04} {d:04}");
}
