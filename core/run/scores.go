package run

// Scores say how good a model is on the test rows, beyond the share that it gets right.
// They are computed from those rows without noise: a diagnostic.
type Scores struct {
	// Classification. Confusion counts the rows of class i that were answered with
	// class j; nil where there are more classes than anybody reads. A row whose
	// outputs are not finite is answered with none of them, and counted by Unanswered.
	Confusion  [][]int `json:"confusion,omitempty"`
	Unanswered int     `json:"unanswered,omitempty"`
	// Balanced is the mean recall of the classes that have test rows.
	Balanced Number `json:"balanced_accuracy"`
	// Positive is the class that Areas and curves are about, where there are two: the
	// rarer. Of more classes the areas are means over all, each against the rest.
	Positive         string `json:"positive,omitempty"`
	ROCArea          Number `json:"roc_auc"`
	AveragePrecision Number `json:"average_precision"`
	// ROC is recall over the share of wrong alarms, PR precision over recall.
	ROC []Point `json:"roc,omitempty"`
	PR  []Point `json:"pr,omitempty"`
	// Cuts says what Positive would find were it answered from other probabilities than one half, which is
	// that in the middle, the least first: from all rows to none.
	Cuts []Cut `json:"cuts,omitempty"`
	// Calibration sorts the rows by how sure the model was of its answer.
	Calibration      []Calibrated `json:"calibration,omitempty"`
	CalibrationError Number       `json:"calibration_error"`

	// Multi-label data. Labels scores each label; LabelMean has the means over labels of which a figure
	// exists, and so do Balanced and the areas.
	Labels    []LabelScore `json:"labels,omitempty"`
	LabelMean *LabelScore  `json:"label_mean,omitempty"`

	// Regression, in the target's units.
	MeanError Number `json:"mean_absolute_error"`
	// MedianError is what half of the answers are off by at most, which a few rows far from
	// the others do not move.
	MedianError Number `json:"median_absolute_error"`
	// OfMean is MeanError of answering with the mean of the test rows always.
	OfMean    Number `json:"mean_absolute_error_of_mean"`
	RootError Number `json:"root_mean_squared_error"`
	// R2 is the share of the targets' variance that is explained: 0 for answering with
	// the test rows' mean, less for worse.
	R2 Number `json:"r2"`
	// Fit divides the rows into parts, in the order of their answers: of one target, and of
	// rows enough.
	Fit []Fitted `json:"fit,omitempty"`
}

// LabelScore scores one of several labels a row, on the test rows. A label is answered with where its probability is above
// one half. A figure that the rows say nothing of is NaN: those beside Accuracy and Majority, of a label that all rows or none have.
type LabelScore struct {
	Label    string `json:"label,omitempty"`
	Rows     int    `json:"rows,omitempty"` // that have the label
	Accuracy Number `json:"accuracy"`
	// Majority is the accuracy of answering all rows alike.
	Majority Number `json:"majority"`
	Balanced Number `json:"balanced_accuracy"` // the mean of the accuracies on rows with the label and on those without
	F1       Number `json:"f1"`
	ROCArea  Number `json:"roc_auc"`
}

// Point is a point of a curve.
type Point struct {
	X Number `json:"x"`
	Y Number `json:"y"`
}

// Cut counts the rows that have at least a probability of a class.
type Cut struct {
	From   Number `json:"from"`
	Found  int    `json:"found"`  // of the class
	Alarms int    `json:"alarms"` // of the other
}

// Answered is a row of numbers: what it has, and what was answered, in the target's units.
type Answered struct {
	Target Number `json:"target"`
	Answer Number `json:"answer"`
}

// Mistake is a picture that was taken for another class than it is of.
type Mistake struct {
	Class  string `json:"class"`
	Answer string `json:"answer"`
	Sure   Number `json:"confidence"`
	Height int    `json:"height"`
	Width  int    `json:"width"`
	Pixels []byte `json:"pixels"` // as the data has them, one plane of colour after the other; in JSON as base64
}

// Calibrated are rows of which a model was about as sure.
type Calibrated struct {
	Rows     int    `json:"rows"`
	Sure     Number `json:"confidence"` // the mean probability of its answers
	Accuracy Number `json:"accuracy"`   // the share of them that is right
}

// Fitted are rows that were answered with about the same number.
type Fitted struct {
	Rows   int    `json:"rows"`
	Answer Number `json:"answer"` // the mean of their answers
	Target Number `json:"target"` // the mean of what was so
	Off    Number `json:"mean_absolute_error"`
}
