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

// Invitation holds the way to a room, as its link does.
type Invitation struct {
	Room string `json:"room"` // its name at its host, which is the page's
	// Secret is known to the parties and not to the room: 32 bytes in base64, as addresses write it.
	Secret string `json:"secret"`
}

// InvitedRequest asks what a room is for.
type InvitedRequest struct {
	Invitation
	// Config is what is compared with the room's agreement, on the data that is open; nil: nothing is.
	Config *Config `json:"config,omitempty"`
}

// Agreed says what the parties of a room have agreed on.
type Agreed struct {
	// Config is the run's, without what each party decides alone: its data, and on what it trains.
	Config Config `json:"config"`
	// CSV has how tables are read to be as agreed: their label, the kinds and the bounds of their columns, by name.
	CSV CSV `json:"csv,omitzero"`
	// Columns are those of a table, by name and in their order.
	Columns []string `json:"columns,omitempty"`
	Classes []string `json:"classes,omitempty"`
	// Differences are those between the agreement and what was compared with it.
	Differences []Difference `json:"differences,omitempty"`
}

// Difference is a value in which two parties differ.
type Difference struct {
	Path   string `json:"path"`   // as config.model.kind, or data.columns.3.name
	Theirs string `json:"theirs"` // of the agreement, as JSON; empty where it has none
	Yours  string `json:"yours"`
}

// Joining has a run meet others in a room.
type Joining struct {
	Invitation
	Name string `json:"name"` // what the others see
}

// PartyState tells how it stands with a run of several parties, for one of them.
type PartyState struct {
	Seats       []PartySeat `json:"seats"`
	Fingerprint string      `json:"fingerprint,omitempty"` // of a run that has begun, as parties compare it
	Present     int         `json:"present,omitempty"`     // parties that the last round was asked of
	Void        int         `json:"void,omitempty"`        // rounds without a sum
	Waiting     bool        `json:"waiting,omitempty"`     // for the others
	Sent        int64       `json:"sent"`                  // bytes to the room
	Received    int64       `json:"received"`
}

// PartySeat is a place in a room.
type PartySeat struct {
	Name string `json:"name"` // empty: nobody has it
	You  bool   `json:"you,omitempty"`
	Away bool   `json:"away,omitempty"` // the last round was not asked of it
}
