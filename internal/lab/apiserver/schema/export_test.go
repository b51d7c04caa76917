package schema

// CanonicalQuantity is what Prune makes of an amount.
var CanonicalQuantity = canonicalQuantity
