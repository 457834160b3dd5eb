//go:build js && wasm

package wasm

import (
	"errors"
	"fmt"
	"strconv"
	"syscall/js"
	"time"

	"clipscope/wasm/worker"
)

// checkpointStore is a folder in the file system that the browser keeps for the site (OPFS), with a
// folder for each run. Only workers may write there without waiting. Who has a run's files
// open holds a lock of its name; it is free once that worker is gone.
type checkpointStore struct{}

const (
	checkpointFolder = "clipscope-runs"
	checkpointLock   = "clipscope-stored/" // web/clipscope.js waits for it
	// handleTries limits the tries, a twentieth of a second apart, to get files that
	// the browser has not yet taken from a worker that is gone.
	handleTries = 40
	// lockTries limits the tries, five milliseconds apart, to get a lock that a page has.
	lockTries = 40
)

func newCheckpointStore() worker.CheckpointStore { return checkpointStore{} }

var errNoStorage = errors.New("the browser gives this page no storage for files, as in some private windows")

// folder returns the folder of all runs. It is made where create is true, which takes room; otherwise
// the error is errNothing where it is not there.
func folder(create bool) (dir js.Value, err error) {
	defer caught(&err)
	storage := js.Global().Get("navigator").Get("storage")
	if locks := js.Global().Get("navigator").Get("locks"); !storage.Truthy() || !storage.Get("getDirectory").Truthy() || !locks.Truthy() {
		return dir, errNoStorage
	}
	root, err := await(storage.Call("getDirectory"))
	if err != nil {
		return dir, fmt.Errorf("%w (%v)", errNoStorage, err)
	}
	dir, err = await(root.Call("getDirectoryHandle", checkpointFolder, map[string]any{"create": create}))
	if r := (*rejection)(nil); errors.As(err, &r) && r.reason.Get("name").String() == "NotFoundError" {
		return dir, errNothing
	}
	return dir, err
}

var errNothing = errors.New("nothing is stored")

// caught turns what JavaScript throws into an error.
func caught(err *error) {
	switch p := recover().(type) {
	case nil:
	case js.Error:
		*err = p
	default:
		panic(p)
	}
}

func (checkpointStore) List() (names []string, err error) {
	defer caught(&err)
	dir, err := folder(false)
	if errors.Is(err, errNoStorage) || err == errNothing {
		return nil, nil // where there is no storage nothing is stored either
	}
	if err != nil {
		return nil, err
	}
	held, err := inHand()
	if err != nil {
		return nil, err
	}
	for keys := dir.Call("keys"); ; {
		next, err := await(keys.Call("next"))
		if err != nil || next.Get("done").Bool() {
			return names, err
		}
		if name := next.Get("value").String(); !held[checkpointLock+name] {
			names = append(names, name)
		}
	}
}

// inHand are the names of the locks that workers hold. A page that has waited for one holds
// it for an instant, too, but shares it.
func inHand() (map[string]bool, error) {
	locks, err := await(js.Global().Get("navigator").Get("locks").Call("query"))
	if err != nil {
		return nil, err
	}
	held := map[string]bool{}
	for i, list := 0, locks.Get("held"); i < list.Length(); i++ {
		if one := list.Index(i); one.Get("mode").String() == "exclusive" {
			held[one.Get("name").String()] = true
		}
	}
	return held, nil
}

func (checkpointStore) Peek(id string, file, most int) (b []byte, err error) {
	defer caught(&err)
	dir, err := folder(false)
	if err != nil {
		return nil, err
	}
	if dir, err = await(dir.Call("getDirectoryHandle", id)); err != nil {
		return nil, worker.ErrGone
	}
	handle, err := await(dir.Call("getFileHandle", strconv.Itoa(file)))
	if err != nil {
		return nil, nil // it was never written
	}
	blob, err := await(handle.Call("getFile"))
	if err != nil {
		return nil, err
	}
	buffer, err := await(blob.Call("slice", 0, most).Call("arrayBuffer"))
	if err != nil {
		return nil, err
	}
	array := js.Global().Get("Uint8Array").New(buffer)
	b = make([]byte, array.Length())
	js.CopyBytesToGo(b, array)
	return b, nil
}

// Open takes the lock first.
func (checkpointStore) Open(id string, fresh bool) (_ worker.CheckpointFiles, err error) {
	defer caught(&err)
	dir, err := folder(fresh)
	if err == errNothing {
		return nil, worker.ErrGone
	}
	if err != nil {
		return nil, err
	}
	d := &checkpointFiles{parent: dir, id: id}
	if d.unlock = lock(checkpointLock + id); d.unlock == nil {
		return nil, worker.ErrLocked
	}
	if d.dir, err = await(dir.Call("getDirectoryHandle", id, map[string]any{"create": fresh})); err != nil {
		d.Close()
		if !fresh {
			return nil, worker.ErrGone
		}
		return nil, err
	}
	for i := range d.files {
		if d.files[i], err = open(d.dir, strconv.Itoa(i)); err != nil {
			d.Close()
			return nil, err
		}
	}
	return d, nil
}

// lock takes a lock and returns what gives it back; nil where another worker has it. A
// page has it for an instant, which is waited for.
func lock(name string) (unlock func()) {
	for try := 1; ; try++ {
		if unlock = take(name); unlock != nil || try == lockTries {
			return unlock
		}
		if held, err := inHand(); err != nil || held[name] {
			return nil
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// take takes a lock that nobody has at the moment.
func take(name string) (unlock func()) {
	var release js.Value
	taken := make(chan bool, 1)
	hold := js.FuncOf(func(_ js.Value, executor []js.Value) any {
		release = executor[0]
		return nil
	})
	granted := js.FuncOf(func(_ js.Value, args []js.Value) any {
		if !args[0].Truthy() {
			taken <- false
			return nil
		}
		held := js.Global().Get("Promise").New(hold)
		taken <- true
		return held
	})
	js.Global().Get("navigator").Get("locks").Call("request", name, map[string]any{"ifAvailable": true}, granted)
	ok := <-taken
	granted.Release()
	hold.Release()
	if !ok {
		return nil
	}
	return func() { release.Invoke() }
}

// open opens a file for this worker alone.
func open(dir js.Value, name string) (js.Value, error) {
	file, err := await(dir.Call("getFileHandle", name, map[string]any{"create": true}))
	if err != nil {
		return file, err
	}
	for try := 1; ; try++ {
		handle, err := await(file.Call("createSyncAccessHandle"))
		if err == nil || try == handleTries {
			return handle, err
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// checkpointFiles is a folder whose files are open.
type checkpointFiles struct {
	parent, dir js.Value
	id          string
	files       [worker.FilesPerRun]js.Value
	unlock      func()
	piece       js.Value // what is read and written goes through it
}

// pieceSize is the number of bytes that go to a file, or come from it, in one call.
const pieceSize = 1 << 20

// pieceView is a part of the piece.
func (d *checkpointFiles) pieceView(n int) js.Value {
	if d.piece.IsUndefined() {
		d.piece = js.Global().Get("Uint8Array").New(pieceSize)
	}
	return d.piece.Call("subarray", 0, n)
}

func (d *checkpointFiles) Read(file, most int) (b []byte, err error) {
	defer caught(&err)
	f := d.files[file]
	b = make([]byte, min(most, f.Call("getSize").Int()))
	for at := 0; at < len(b); {
		view := d.pieceView(min(pieceSize, len(b)-at))
		n := f.Call("read", view, map[string]any{"at": at}).Int()
		if n <= 0 {
			return nil, errors.New("the file ends before its end")
		}
		js.CopyBytesToGo(b[at:], view.Call("subarray", 0, n))
		at += n
	}
	return b, nil
}

func (d *checkpointFiles) Write(file int, b []byte) (err error) {
	defer caught(&err)
	f := d.files[file]
	for at := 0; at < len(b); {
		n := min(pieceSize, len(b)-at)
		view := d.pieceView(n)
		js.CopyBytesToJS(view, b[at:at+n])
		if wrote := f.Call("write", view, map[string]any{"at": at}).Int(); wrote != n {
			return fmt.Errorf("the storage is full: %d of %d bytes were written", at+wrote, len(b))
		}
		at += n
	}
	f.Call("flush")
	return nil
}

func (d *checkpointFiles) Close() {
	for _, f := range d.files {
		if !f.IsUndefined() {
			f.Call("close")
		}
	}
	d.files = [worker.FilesPerRun]js.Value{}
	if d.unlock != nil {
		d.unlock()
		d.unlock = nil
	}
}

// Remove keeps the lock until the folder is gone.
func (d *checkpointFiles) Remove() (err error) {
	defer caught(&err)
	for i, f := range d.files {
		f.Call("close")
		d.files[i] = js.Undefined()
	}
	defer d.Close()
	_, err = await(d.parent.Call("removeEntry", d.id, map[string]any{"recursive": true}))
	return err
}
