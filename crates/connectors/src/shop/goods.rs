//! What the shop sells.

/// A product, by its place in [`PRODUCTS`].
pub(super) type Product = usize;

pub(super) struct Good {
    pub(super) id: &'static str,
    pub(super) category: &'static str,
    pub(super) price_cents: i64,
}

const fn good(id: &'static str, category: &'static str, price_cents: i64) -> Good {
    Good { id, category, price_cents }
}

/// Every product, by category.
pub(super) const PRODUCTS: [Good; 30] = [
    good("atlas", "books", 4900),
    good("cookbook", "books", 2800),
    good("detective-story", "books", 1290),
    good("field-guide", "books", 1990),
    good("novel", "books", 1490),
    good("picture-book", "books", 1650),
    good("deck-chair", "garden", 5900),
    good("hedge-shears", "garden", 3490),
    good("lantern", "garden", 2250),
    good("rain-barrel", "garden", 8900),
    good("seed-box", "garden", 990),
    good("watering-can", "garden", 1890),
    good("chef-knife", "kitchen", 7400),
    good("coffee-mill", "kitchen", 6450),
    good("espresso-pot", "kitchen", 3190),
    good("frying-pan", "kitchen", 4490),
    good("salt-jar", "kitchen", 1350),
    good("teapot", "kitchen", 3800),
    good("guitar-strings", "music", 1190),
    good("headphones", "music", 12900),
    good("metronome", "music", 2790),
    good("music-stand", "music", 2450),
    good("record-brush", "music", 1590),
    good("ukulele", "music", 6900),
    good("building-blocks", "toys", 3990),
    good("chess-set", "toys", 4500),
    good("kite", "toys", 2190),
    good("marble-run", "toys", 5490),
    good("puzzle", "toys", 1790),
    good("spinning-top", "toys", 890),
];
