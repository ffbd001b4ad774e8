use std::collections::HashMap;

use super::*;

/// What came of 20,000 first visitors.
fn furthest() -> HashMap<&'static str, usize> {
    let mut reached: HashMap<&'static str, usize> = HashMap::new();
    for number in 0..20_000 {
        let mut visit = Visit::new(3, number, 0);
        let user = visit.user_id;
        let (mut carted, mut ordered, mut paid) = (false, false, false);
        for _ in 0..STEPS {
            let action = visit.step();
            if visit.user_id != user {
                break;
            }
            match action {
                Action::AddToCart => carted = true,
                Action::Order => {
                    assert!(carted, "an order without a cart");
                    ordered = true;
                }
                Action::Pay => {
                    assert!(ordered, "a payment without an order");
                    paid = true;
                }
                Action::Search | Action::View | Action::RemoveFromCart => {}
            }
        }
        for (name, done) in [("carted", carted), ("ordered", ordered), ("paid", paid)] {
            *reached.entry(name).or_default() += usize::from(done);
        }
    }
    reached
}

#[test]
fn each_step_of_the_funnel_loses_some() {
    let reached = furthest();
    assert!((5_000..11_000).contains(&reached["carted"]), "{reached:?}");
    assert!((2_500..reached["carted"]).contains(&reached["ordered"]), "{reached:?}");
    assert!((reached["ordered"] * 8 / 10..reached["ordered"]).contains(&reached["paid"]), "{reached:?}");
}

#[test]
fn a_visitor_who_leaves_makes_room_for_another() {
    let mut visit = Visit::new(1, 1, 0);
    let users: std::collections::HashSet<i64> = (0..100)
        .map(|_| {
            visit.step();
            visit.user_id
        })
        .collect();
    assert!(users.len() > 3, "{users:?}");
}
