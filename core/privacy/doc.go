// Package privacy knows what a mechanism costs: it names mechanisms as events,
// composes them in accountants, calibrates the noise to a target, and draws the
// batches and the keys of the noise.
//
// Neighbouring data sets differ by adding or removing one example. Every ε is
// natural-log and an upper bound unless its name says approximation.
package privacy
