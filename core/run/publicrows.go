package run

// PublicRows names a file of public rows whose mean gradient is mixed into each step. Its zero value is
// none.
type PublicRows struct {
	File   string `json:"file,omitempty"`   // name
	SHA256 string `json:"sha256,omitempty"` // of the file, in hexadecimal
	// BatchSize is the number of public rows of a step; a file with fewer gives all of them to each.
	BatchSize int `json:"batch_size,omitempty"`
	// Weight is the share w of the gradient that a step takes: (1−w)·g̃ + w·ḡ, of the noised mean g̃
	// of the private rows and the plain mean ḡ of the public ones.
	Weight float64 `json:"weight,omitempty"`
	// Public declares that the rows are public: the guarantee promises nothing to them. A run with noise is
	// refused without it.
	Public bool `json:"public,omitempty"`
}

// PublicRequest has a worker keep the file beside it, for runs whose configuration names its hash.
type PublicRequest struct {
	// SHA256 is what the file's hash has to be; empty: any.
	SHA256 string `json:"sha256,omitempty"`
}

// PublicInfo describes public rows that a run mixes in.
type PublicInfo struct {
	PublicRows
	Rows int `json:"rows,omitempty"`
	// LeftOut counts the rows of the file with a cell that the run's data has no reading for, and Problem says
	// what is wrong with the first.
	LeftOut int    `json:"left_out,omitempty"`
	Problem string `json:"problem,omitempty"`
}
