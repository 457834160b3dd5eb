// Package worker speaks the trainer's side of the protocol between page and worker. It
// says what messages mean, in which order they come, and how the stream of a run's events
// is kept small. It knows nothing of browsers; package main one directory up ties it to
// postMessage.
//
// # Protocol, version [run.ProtocolVersion]
//
// A message is an object {type, id, text} whose text is JSON (or absent), in which
// a number that JSON cannot write is as [run.Number] has it. An events message has
// the last step that it tells of beside them, step, and a done message the
// parameters. To the worker it may also carry files, {train: [File…], test: [File…]}, which are
// read in slices and never copied whole.
//
// The worker speaks first: ready, with [run.Ready]. A page that expects another
// protocol version ends the worker and asks the user to reload; an old page can
// meet a new worker after an update.
//
// Requests carry an id > 0 that their replies repeat:
//
//	methods    → reply: the clipping methods, []clip.Info
//	datasets   → reply: the built-in data, []builtin.Info
//	open       [run.OpenRequest] + files → progress data.Progress…, reply: data.Report,
//	           about the data, which the worker keeps until the next open succeeds
//	start      [run.StartRequest] + a model's file → reply: [run.StartInfo] of its weights, which
//	           the worker keeps for runs that name them
//	public     [run.PublicRequest] + a file of public rows → reply: [run.PublicRows], its name and hash. The
//	           worker keeps it for runs that name them
//	plan       [run.TrainRequest] → reply: [run.PlanInfo]
//	train      [run.TrainRequest] → reply: [run.PlanInfo]; from then on, under the
//	           same id: state, place, trial, events … and at the end one of done and failed
//	go-on      [run.GoOnRequest] → as train, of a run that was interrupted, on the data
//	           that the worker has open
//	invite     [run.TrainRequest] → reply: [run.Invitation] to a room that is opened for such a
//	           run of several parties, which train then joins, here and elsewhere
//	invited    [run.InvitedRequest] → reply: [run.Agreed]
//	inspect    + file → progress…, reply: [run.BackboneInfo] of a model that makes features
//	featurise  [run.BackboneRequest] + file → progress data.Progress…, reply: data.Report.
//	           The model makes features of the open data's rows, which take their place
//	forget     → reply: a number of bytes: kept features are removed
//	change     [run.ChangeRequest] → reply: [run.ChangeReply], once the step under way is
//	           done. The run that it names has to be for teaching
//	memory     → reply: [run.MemoryReply], after a garbage collection
//	convert    [run.ConvertRequest] + a model's file → progress [run.ConvertProgress]…,
//	           reply: the same, with the file in blob, a Blob, beside the text
//	check      [run.CheckRequest] + a file that the page wrote → reply: [run.Verdict]. As with an audit, a page
//	           starts a worker for it, and ends the worker to end the check
//	audit      [run.AuditRequest] → progress [run.AuditProgress]…, reply:
//	           [run.AuditReport]. It keeps the worker busy until it is over: a page
//	           starts a worker for it, and ends the worker to end the audit
//
// Of a saved model, which the worker keeps until the next model request succeeds:
//
//	model      + one file, and behind it those of what makes features of texts for it → progress…, reply: [run.ModelInfo]
//	predict    [run.PredictRequest] → reply: a list of [run.Answer]
//	predict    + one file, a table → progress data.Progress…, reply: [run.PredictReply],
//	           with the answers as CSV in blob, a Blob, beside the text
//	predict    + files of pictures → as of a table, a line for each picture
//	picture    [run.PictureRequest] + one file → reply: [run.Seen]
//	evaluate   + files with labels → progress data.Progress…, reply: [run.Evaluation]
//
// Of the laboratory, a model that stands still on a batch of the open data, or of built-in
// data, which the worker keeps until another is opened; all of it is diagnostic:
//
//	lab        [run.LabRequest]      → reply: [run.Look], of the first parameters
//	look       [run.LookRequest]     → progress [run.LabProgress]…, reply: [run.Look]
//	clipping   [run.ClipRequest]     → reply: [run.ClipReply]
//	estimate   [run.EstimateRequest] → reply: [run.EstimateReply]
//	draws      [run.DrawsRequest]    → reply: [run.Draws]
//	boundary   [run.BoundaryRequest] → reply: [run.Boundary]
//
// Of the calculator, about a run and without data:
//
//	epsilon    [run.EpsilonRequest]   → reply: [run.Number]
//	delta      [run.DeltaRequest]     → reply: [run.Number]
//	report     [run.EpsilonRequest]   → reply: [run.ReportReply]
//	curve      [run.CurveRequest]     → reply: [run.CurveReply]
//	tuning     [run.TuningRequest]    → reply: [run.TuningReply]
//	group      [run.GroupRequest]     → reply: [run.Number]
//	attack     [run.AttackRequest]    → reply: [run.Attack]
//	calibrate  [run.CalibrateRequest] → reply: [run.CalibrateReply]
//
// Of runs that were interrupted, each stored by its worker while it went on
// ([run.TrainRequest.Keep]), under its random name:
//
//	interrupted                       → reply: a list of [run.KeptRun]
//	discard    [run.DiscardRequest]   → reply: null
//
// Of the ledger, whose records the page stores, as only it outlives a run:
//
//	digest     [run.DigestRequest]    → reply: [run.DigestReply], of the open files
//	enter      [run.EnterRequest]     → reply: the [run.Record] to store
//	close      [run.CloseRequest]     → reply: the [run.Record] to store
//	reopen     [run.ReopenRequest]    → reply: the [run.Record] to store, of a run that goes on
//	restore    [run.RestoreRequest]   → reply: a list of the [run.Record]s to store, of interrupted runs
//	spent      [run.SpentRequest]     → reply: [run.SpentReply]
//	entries    [run.Account]          → reply: a list of [run.Line]
//	recognise  [run.RecogniseRequest] + files → reply: [run.DigestReply], of these files
//	recognised [run.Account]          → reply: a list of [run.Recognised]
//	limit      [run.Limit]            → reply: the [run.Limit] to store
//	statement  [run.StatementRequest] → reply: [run.Statement]
//
// A request that cannot be met is answered by error, whose text is [run.Failure];
// nothing that the worker held before is lost by it.
//
// Commands to the run carry its id and get no reply of their own; what they
// change comes as a state message, one of "running", "paused", "done", "error":
//
//	pause, resume
//	stop       the run's result comes, with the ε of its whole plan; a run cannot
//	           be made longer than it was planned
//	step       one step, while paused
//	pace       so many steps a second at most, a number; 0: as fast as can be
//	begin      a run of several parties starts with those who have come, of whom the first may say so
//	store      the run is stored as soon as can be, as its page may be about to go
//	ack        one events message has been dealt with
//
// A place message, [run.Place], says what the run is computed on: once that is known,
// and again where it goes on with something else.
//
// A trial message, [run.Trial], says how far a run is which is tried among others, a few
// times a second: of its steps no events are sent.
//
// A within message, [run.Within], says how far a run is within a step that takes long, a few
// times a second, but not in a blind run.
//
// A party message, [run.PartyState], says how it stands with a run of several parties, a few times a second.
//
// In a blind run ([run.Config.Blind]) no event has a diagnostic, and nothing is
// tested before the run has ended.
//
// # Back-pressure
//
// The worker keeps at most two events messages unacknowledged and sends at most
// about twenty a second. What happens meanwhile accumulates and is thinned, see
// [Outbox]. The state and done messages are not subject to this: before done,
// whatever is left is sent.
package worker

// The types of messages to the worker.
const (
	Methods    = "methods"
	Datasets   = "datasets"
	Epsilon    = "epsilon"
	Calibrate  = "calibrate"
	Open       = "open"
	Start      = "start"
	Public     = "public"
	Plan       = "plan"
	Train      = "train"
	Change     = "change"
	Memory     = "memory"
	Audit      = "audit"
	Convert    = "convert"
	Model      = "model"
	Predict    = "predict"
	Picture    = "picture"
	Evaluate   = "evaluate"
	Delta      = "delta"
	Report     = "report"
	Curve      = "curve"
	Tuning     = "tuning"
	Group      = "group"
	Inspect    = "inspect"
	Featurise  = "featurise"
	Forget     = "forget"
	Digest     = "digest"
	Recognise  = "recognise"
	Recognised = "recognised"
	Enter      = "enter"
	Close      = "close"
	Spent      = "spent"
	Entries    = "entries"
	Limit      = "limit"
	Statement  = "statement"
	Reopen     = "reopen"
	Restore    = "restore"
	GoOn       = "go-on"
	Discard    = "discard"
	Check      = "check"
	Attack     = "attack"
	Invite     = "invite"
	Invited    = "invited"

	Interrupted = "interrupted"

	Lab      = "lab"
	Look     = "look"
	Clipping = "clipping"
	Estimate = "estimate"
	Draws    = "draws"
	Boundary = "boundary"

	// Cancel ends the request of its id, whose reply is an error then.
	Cancel = "cancel"

	Pause  = "pause"
	Resume = "resume"
	Step   = "step"
	Pace   = "pace"
	Stop   = "stop"
	Ack    = "ack"
	Store  = "store"
	Begin  = "begin"
)

// The types of messages from the worker.
const (
	ReadyType    = "ready"
	ReplyType    = "reply"
	ErrorType    = "error"
	ProgressType = "progress"
	EventsType   = "events"
	StateType    = "state"
	PlaceType    = "place"
	TrialType    = "trial"
	WithinType   = "within"
	PartyType    = "party"
	DoneType     = "done"
	FailedType   = "failed"
)

// The states of a run.
const (
	Running = "running"
	Paused  = "paused"
	Done    = "done"
	Failed  = "error"
)
