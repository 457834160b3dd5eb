package run

// Together says that several parties train one model, each on rows of its own. They share secure
// noise: what leaves a party is a sum with its own part of the noise, masked so that only the sum of
// all parties shows.
type Together struct {
	// Parties is how many there are when the run starts; 0: one, alone.
	Parties int `json:"parties,omitempty"`
	// Tolerance is how many of them may be silent in a step, or have noise that somebody knows, both counted
	// together, without making ε any larger: noise is drawn so that all but these draw enough of it.
	Tolerance int `json:"tolerance,omitempty"`
	// Quorum is the least number of parties that a step is taken with. Above those that are needed, it says how
	// many may collude in any step; by default one, as a party knows its own noise.
	Quorum int `json:"quorum,omitempty"`
}

// Needed is the number of parties whose noise makes up the whole.
func (t Together) Needed() int { return t.Parties - t.Tolerance }

// TogetherPlan holds a plan's figures of a run of several parties.
type TogetherPlan struct {
	// EpsilonAlone is ε for a party that trusts no other: its own noise alone protects its rows. The
	// plan's Epsilon holds where at least [Together.Needed] parties keep their noise to themselves.
	EpsilonAlone Number `json:"epsilon_alone"`
	// StepBytes is what a party sends in a step, and receives.
	StepBytes int `json:"step_bytes"`
}

// StatementTogether describes the parties of a run in its statement.
type StatementTogether struct {
	Together
	// EpsilonAlone is ε for a party that trusts no other.
	EpsilonAlone Number `json:"epsilon_alone"`
	// Transcript is a hash, in hexadecimal, of everything that all parties were told.
	Transcript string `json:"transcript,omitempty"`
}
