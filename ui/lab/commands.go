package lab

import (
	"clipscope/core/run"
	"clipscope/ui/lesson"
)

// Commands of screens.
type (
	attach struct { // has a mounted screen draw what changes
		name   string
		screen screen
	}
	detach struct{ name string }
	follow struct{ hash string } // goes to where an address leads; the first time also without one
	// fetchLessons and fetchFigures fetch files of the site, once.
	fetchLessons struct{}
	fetchFigures struct{}
)

// Commands of the experiment.
type (
	choose  struct{ key, text string } // puts a text into a field of the configuration
	settle  struct{ key string }       // takes up a field's draft
	overlay struct{ method string }    // shows a method in the U, or no longer
)

// Commands of the bench.
type (
	moveC struct{ to float64 }
	slide struct { // moves a slider of the noise
		knob string
		to   float64
	}
	price     struct{}               // asks for the ε of the sliders' σ and B
	scale     struct{ linear bool }  // of the plane's radius
	trainOn   struct{ steps int }    // from where the model is
	backStart struct{}               // to the first parameters
	nextBatch struct{ after func() } // at the same parameters; after may be nil
	drawNoise struct{}               // many times, to measure it
	adopt     struct{}               // has the experiment clip at the handle's C
	trace     struct{ label string } // draws a lane's thresholds in the U
)

// Commands of the sweep.
type (
	startSweep struct{}
	stopSweep  struct{}
	sweepOver  struct{ epsilon string } // adds a curve's ε, or takes it away
	predict    struct{ first bool }
	guessC     struct{ c float64 }
	showSweep  struct{} // after a guess
)

// Commands of the lanes. Labels name lanes.
type (
	vary       struct{ key, values string } // fills the lanes with values of one field
	addLane    struct{}                     // with the experiment as it is
	removeLane struct{ label string }
	keepLane   struct{ label string } // behind later lanes
	forgetLane struct{ label string } // a kept one
	startLanes struct{}               // those that have not run
	rerunLanes struct{}
	stopLanes  struct{}
	pauseLanes struct{} // or has them go on
	stepLanes  struct{}
	seedLanes  struct{ many bool } // runs of a lane, for their spread
	sortLanes  struct{ column string }
	steerLane  struct{ label string } // "": all
	paceLanes  struct{ perSecond float64 }
	changeRuns struct{ change run.Change }
	refuse     struct{ why string } // says why a change is none
)

// Commands of lessons, game and papers.
type (
	openLesson  struct{ id string }
	backStep    struct{}
	nextStep    struct{}              // or lesson, or the list after the last
	leaveLesson struct{ listed bool } // for the list of lessons, open or not
	typeAnswer  struct{ text string }
	pickAnswer  struct{ option int }
	checkAnswer struct{}
	nameCard    struct{ name string } // that is handed in
	saveCard    struct{}
	pasteCards  struct{ text string } // in the place of what was pasted before
	fileCards   struct{ text string } // beside those of other files
	guessIn     struct{ in bool }
	playBest    struct{} // many times
	openFigure  struct{ figure *lesson.Figure }
	reproduce   struct{ figure *lesson.Figure }
)
