// Package privacy computes the privacy cost of mechanisms. It names mechanisms as events,
// composes them in accountants, calibrates the noise to a target, and draws the batches,
// the keys and the integers of the noise.
//
// Neighbouring data sets differ in one example, which only one of them has: the other has
// an empty one in its place, or, where no sample rate follows from how many there are, none
// at all. Both cost the same. Every ε is
// natural-log and an upper bound unless its name says low or approximation.
//
//	e := SelfComposed{PoissonSampled{q, Gaussian{sigma}}, steps}
//	Epsilon(PLD, delta, e)                          // ε of events, one after the other
//	Delta(PLD, epsilon, e)
//	NewReport(delta, e)                             // every accountant, and a lower bound
//	NewCurve(PLD, delta, perStep, maxSteps, once…)  // then Epsilon(step), cheaply
//	Budget{PLD, epsilon, delta, spent}              // .NoiseMultiplier, .Steps, .SampleRate
//	NewTuningCosts(delta, run, configurations)
//	GroupEpsilon(PLD, rows, delta, e)               // for neighbours that differ in that many rows
//	NewSampler(n, q); NewKey(); key.NoiseKey(purpose, tensor, step)
//	NewDiscreteGaussian(sigma)                      // exact integers, for secure mode
//	NewJoinedNoise(sigma, unit)                     // the same from a table, nearly: charged to δ
//	OneRunAudit{canaries, guesses, correct}         // .Epsilon: a lower bound from an attack
//	Enter(request), Close(request), Spent(request)  // the ledger over all runs on a data set
//	NewStatement(Statement{…})                      // .Text, JSON
//
// # Events and refusals
//
// Events describe what ran. All that are supported come down to Gaussians, each
// on all rows or on a Poisson sample, so the order of composition cannot matter.
// Several Gaussians on the same rows, adaptively chosen, cost what one costs
// whose σ⁻² is the sum of theirs; this holds inside a Poisson sample too. That is
// why a clipped sum and a noisy histogram of one batch are a [Joint] inside one
// [PoissonSampled], not two samples. A sample of a sample is refused, as is any
// event of a foreign type.
//
// A release with noise that is not quite what it is priced with is an [Inexact]: how
// far off it is, in total variation, is charged to δ. Float noise ends, and a release
// with it is a [FloatNoise]: what its end takes of δ is charged as well, without the factor
// of e^ε that a distance has. At δ = 1e-5, 1000 steps of 100,000 numbers with σ = 1 take
// a 10⁻¹¹th of δ.
//
// # Why two accountants
//
// RDP ([RDP]) is what DC reports. At a given δ it is above the truth by
// about 5 % in long runs and by any factor where q is small and steps are few:
// at σ = 0.5, q = 1/60000 and 100 steps it says 2.27 and the truth is 0.0435. It
// is computed from terms that are all positive (see sampling.rdp), so it loses no
// digits at tiny q, where summing an alternating series does. Its orders
// contain those of Opacus and of Google's dp_accounting and more, because ε jumps
// where a list has a gap: Opacus has none between 10.9 and 12.
//
// PLD ([PLD]) is the headline. One step's privacy loss is put on a grid such that
// the result dominates it ("connect the dots"), its Fourier transform is raised
// to the number of steps, and the tail is read off. Two things differ from the
// libraries we know:
//
//   - the loss is tilted by exp(λx) before the transform, so that the tail that
//     is read has the precision of the bulk, δ = 1e-10 included, and the window
//     only needs to hold the neighbourhood of ε: 2¹³ points where a plain
//     transform takes 10⁶. An answer takes 5 to 30 ms natively, about three
//     times that in wasm;
//   - everything left out is added back as a bound: what lies beyond the window
//     (Chernoff), what the transform wraps around, its rounding, and the rounding
//     of normal tails. What a doubling of the grid still moves is below 3e-4 of ε.
//
// It is not attempted where nobody could use the answer and no grid would do:
// with a noise multiplier below 0.02, δ below 1e-30 or more than 1e8 steps. There,
// and wherever it runs out of precision, ε is the RDP accountant's and a notice
// says so. No figure of it is believed that lies below a lower bound from another
// source: what one release costs by itself, and a few tests of the summed outputs
// (lower.go). So every legal setting has an answer, in bounded time and memory.
//
// Both ways of differing, adding and removing, are composed, unless Chernoff's
// bound shows that the one cannot exceed the other. Gaussians without sampling,
// and single steps, have closed forms and need no grid. The lower bound of a
// [Report] comes from another discretisation altogether, by post-processing; for
// σ ≥ 1 the two usually agree to three digits, which is the best test of both.
//
// The central limit ([Report].GDP) is shown as what it is. Over our reference
// rows it errs from −92 % to +180000 %.
//
// # Live figures
//
// A PLD [Curve] is exact after some steps, spaced evenly in √steps, and in
// between it shows the next of them: an upper bound, since ε never falls. All of
// them share a handful of transforms, so the whole curve of a run costs a few
// milliseconds for hundreds of steps, and below 1 % of any run.
//
// # Stopping
//
// A curve's figure at a step is ε of a run that was planned to end there. For one
// that is stopped there it is no bound, as the step may have been chosen by what
// was released: see TestOptionalStoppingTellsNoMoreThanTheStatement. [Statement] and [Enter] therefore price
// the plan, whose ε holds for every rule that looks at released values alone.
//
// # Keys
//
// A run has one random key. The nonce of a stream is its purpose, tensor and step,
// written side by side, so no two streams coincide. A run that is paused in memory
// goes on with its key; one that is resumed from a checkpoint takes a new key, as
// the steps after the checkpoint may have been released already and must not be
// released again with the same noise on other gradients. With a fixed seed the
// key is public and there is no guarantee.
//
// # What it does not do
//
// Timing is not constant anywhere. Privacy is per row; [GroupEpsilon] says what
// that leaves for several. The ledger recognises a
// file, not the people in it. The choice among configurations is charged only by
// [NewTuningCosts] and [RepeatAndSelect], not by the accountants.
package privacy
