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
    good("atlas", "books", 49_00),
    good("cookbook", "books", 28_00),
    good("detective-story", "books", 12_90),
    good("field-guide", "books", 19_90),
    good("novel", "books", 14_90),
    good("picture-book", "books", 16_50),
    good("deck-chair", "garden", 59_00),
    good("hedge-shears", "garden", 34_90),
    good("lantern", "garden", 22_50),
    good("rain-barrel", "garden", 89_00),
    good("seed-box", "garden", 9_90),
    good("watering-can", "garden", 18_90),
    good("chef-knife", "kitchen", 74_00),
    good("coffee-mill", "kitchen", 64_50),
    good("espresso-pot", "kitchen", 31_90),
    good("frying-pan", "kitchen", 44_90),
    good("salt-jar", "kitchen", 13_50),
    good("teapot", "kitchen", 38_00),
    good("guitar-strings", "music", 11_90),
    good("headphones", "music", 129_00),
    good("metronome", "music", 27_90),
    good("music-stand", "music", 24_50),
    good("record-brush", "music", 15_90),
    good("ukulele", "music", 69_00),
    good("building-blocks", "toys", 39_90),
    good("chess-set", "toys", 45_00),
    good("kite", "toys", 21_90),
    good("marble-run", "toys", 54_90),
    good("puzzle", "toys", 17_90),
    good("spinning-top", "toys", 8_90),
];
