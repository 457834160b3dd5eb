package together

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"clipscope/core/data"
	"clipscope/core/run"
	"clipscope/core/together/room"
	"clipscope/core/together/room/roomtest"
	"clipscope/core/together/wire"
)

func init() { firstPause = time.Millisecond }

// silence is how long a room waits where somebody is silent.
const silence = 300 * time.Millisecond

// agreed is an agreement of so many parties on nothing in particular.
func agreed(parties, tolerance, quorum int) Agreement {
	return NewAgreement(run.Config{Method: "constant", Together: run.Together{Parties: parties, Tolerance: tolerance, Quorum: quorum}}, data.Meta{Task: data.Classification, Features: 2, Outputs: 2}, []string{"a", "b"}, [32]byte{1})
}

// meeting is a room and those who are to meet there.
type meeting struct {
	*roomtest.House
	guest Guest
}

// newMeeting opens a room that waits for who could answer, or no longer than patience.
func newMeeting(t *testing.T, a Agreement, words, steps int, patience ...time.Duration) *meeting {
	t.Helper()
	secret, err := NewSecret()
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := SealAgreement(secret, &a)
	if err != nil {
		t.Fatal(err)
	}
	g := a.Config.Together
	terms := wire.Terms{Parties: uint16(g.Parties), Quorum: uint16(g.Quorum), Words: uint32(words), Rounds: uint32(steps), AnswerSeconds: 10}
	return &meeting{roomtest.NewHouse(t, terms, sealed, append(patience, time.Minute)[0]), Guest{Secret: secret, Agreement: a, Words: words, Steps: steps}}
}

// enter has a party take a seat.
func (m *meeting) enter(t *testing.T, ctx context.Context, name string, back *Seat) *Party {
	t.Helper()
	g := m.guest
	g.Name = name
	p, err := Enter(ctx, func(ctx context.Context) (Link, error) { return m.Dial(ctx) }, g, back)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// gathered are parties that have begun.
func (m *meeting) gathered(t *testing.T, n int) []*Party {
	t.Helper()
	var all []*Party
	for i := range n {
		all = append(all, m.enter(t, t.Context(), fmt.Sprint("party ", i+1), nil))
	}
	all[0].Start(t.Context())
	for _, p := range all {
		if err := p.Wait(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// words of a party in a step, and their sum.
func wordsOf(party, step, n int) []uint32 {
	rng := rand.New(rand.NewPCG(uint64(party), uint64(step)))
	w := make([]uint32, n)
	for i := range w {
		w[i] = rng.Uint32()
	}
	return w
}

func sumOf(parties []int, step, n int) []uint32 {
	sum := make([]uint32, n)
	for _, p := range parties {
		for i, w := range wordsOf(p, step, n) {
			sum[i] += w
		}
	}
	return sum
}

// TestSumsOfAll: parties that all answer get the sum of their words, in every round, whatever their
// number, and end with one log.
func TestSumsOfAll(t *testing.T) {
	for _, n := range []int{2, 3, 5, 30} {
		const words, steps = 33, 5
		m := newMeeting(t, agreed(n, 0, n), words, steps)
		all := m.gathered(t, n)
		everybody := make([]int, n)
		for i := range everybody {
			everybody[i] = i
		}
		var done sync.WaitGroup
		for i, p := range all {
			done.Go(func() {
				for step := range steps {
					got, err := p.Sum(t.Context(), step, wordsOf(i, step, words))
					if err != nil || !slices.Equal(got, sumOf(everybody, step, words)) {
						t.Errorf("%d parties, step %d: %v", n, step, err)
						return
					}
				}
			})
		}
		done.Wait()
		for _, p := range all[1:] {
			if p.Transcript() != all[0].Transcript() || p.Common() != all[0].Common() || p.Fingerprint() != all[0].Fingerprint() {
				t.Errorf("%d parties do not agree", n)
			}
		}
		if m.Over() != wire.Finished {
			t.Errorf("%d parties: the room is over: %v", n, m.Over())
		}
	}
}

// TestMasksCancel in every pattern of those who are present, of up to six, and of a part of them they do
// not.
func TestMasksCancel(t *testing.T) {
	const words = 7
	for n := 2; n <= 6; n++ {
		var all []*masks
		for range n {
			k, err := NewKey()
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, newMasks(k, [32]byte{9}))
		}
		for i, m := range all {
			for j, o := range all {
				if i != j {
					if err := m.meet(j, o.own.private.PublicKey().Bytes()); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
		for pattern := range 1 << n {
			var present wire.Seats
			for i := range n {
				if pattern>>i&1 == 1 {
					present = present.With(i)
				}
			}
			seats := present.All()
			if len(seats) < 2 {
				continue
			}
			sum, partial := make([]uint32, words), make([]uint32, words)
			for _, i := range seats {
				w := wordsOf(i, pattern, words)
				if err := all[i].add(w, uint32(pattern), present, i); err != nil {
					t.Fatal(err)
				}
				for j, x := range w {
					sum[j] += x
					if i != seats[0] {
						partial[j] += x
					}
				}
			}
			if !slices.Equal(sum, sumOf(seats, pattern, words)) {
				t.Errorf("%d parties, present %v: masks do not cancel", n, seats)
			}
			if slices.Equal(partial, sumOf(seats[1:], pattern, words)) {
				t.Errorf("%d parties, present %v: masks cancel without seat %d", n, seats, seats[0])
			}
		}
		if err := all[0].add(make([]uint32, 1), 1, wire.Seats{}.With(0), 0); err == nil {
			t.Error("words are sent that nothing hides")
		}
	}
}

// TestMessagesAreUniform: what one party sends is uniform, whatever its words: their bytes are tested by χ²
// with 255 degrees of freedom, against the value that is exceeded with a probability of 10⁻⁹ (about
// 255 + 6·√510 + 24), and so are the differences of the same words' messages in two rounds.
func TestMessagesAreUniform(t *testing.T) {
	const words, steps = 20000, 2
	m := newMeeting(t, agreed(3, 0, 3), words, steps)
	all := m.gathered(t, 3)
	var done sync.WaitGroup
	for _, p := range all {
		done.Go(func() {
			for step := range steps {
				if _, err := p.Sum(t.Context(), step, make([]uint32, words)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	done.Wait()
	var messages [][]uint32
	for _, f := range m.Seen() {
		if w, ok := f.(wire.Words); ok {
			messages = append(messages, w.Words)
		}
	}
	if len(messages) != 3*steps {
		t.Fatalf("%d messages", len(messages))
	}
	uniform := func(name string, w []uint32) {
		var counts [256]float64
		for _, x := range w {
			for k := range 4 {
				counts[x>>(8*k)&255]++
			}
		}
		chi, want := 0.0, float64(4*len(w))/256
		for _, c := range counts {
			chi += (c - want) * (c - want) / want
		}
		if chi > 415 {
			t.Errorf("%s: χ² = %.1f", name, chi)
		}
	}
	for i, w := range messages {
		uniform(fmt.Sprint("message ", i), w)
		for _, o := range messages[:i] {
			d := slices.Clone(w)
			for k := range d {
				d[k] -= o[k]
			}
			uniform("a difference", d)
		}
	}
}

// TestOnlySealedAndMaskedLeaves: of all that parties send, nothing has a name, a number of theirs, the link's secret or a
// key's secret half in it, and the kinds of frames are those that package wire lists.
func TestOnlySealedAndMaskedLeaves(t *testing.T) {
	const n, words, steps = 3, 40, 3
	m := newMeeting(t, agreed(n, 1, 2), words, steps)
	all := m.gathered(t, n)
	var done sync.WaitGroup
	for i, p := range all {
		done.Go(func() {
			for step := range steps {
				if _, err := p.Sum(t.Context(), step, wordsOf(i, step, words)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	done.Wait()
	secrets := map[string][]byte{"the link's secret": m.guest.Secret[:], "the method": []byte("constant")}
	for i, p := range all {
		secrets[fmt.Sprint("the name of ", i)] = []byte(p.guest.Name)
		secrets[fmt.Sprint("the key of ", i)] = p.key.private.Bytes()
		secrets[fmt.Sprint("the public key of ", i)] = p.key.private.PublicKey().Bytes() // sealed, too
		for step := range steps {
			w := wire.Words{Words: wordsOf(i, step, words)}.Append(nil)
			secrets[fmt.Sprint("words of ", i)] = w[len(w)-16:]
		}
	}
	for _, f := range m.Seen() {
		b := f.Append(nil)
		for name, secret := range secrets {
			if bytes.Contains(b, secret[:min(len(secret), 8)]) {
				t.Errorf("%T has %s in it", f, name)
			}
		}
		switch f.(type) {
		case wire.Hello, wire.Start, wire.Ready, wire.Words:
		default:
			t.Errorf("a party sends %T", f)
		}
	}
}

// story is what a party got, and how it ended.
type story struct {
	sums map[int][]uint32
	err  error
}

// TestDropOuts: with parties that go without a word, answer twice, answer late, or lie about what they were
// told, the others end with the same sums, of those who were present, and with the same log, as long as there
// are enough of them; and with an error that says so where there are not.
func TestDropOuts(t *testing.T) {
	const n, words, steps = 10, 9, 24
	m := newMeeting(t, agreed(n, 4, 6), words, steps, silence)
	ctxs, stops := make([]context.Context, n), make([]context.CancelFunc, n)
	var all []*Party
	for i := range n {
		ctxs[i], stops[i] = context.WithCancel(t.Context())
		defer stops[i]()
		all = append(all, m.enter(t, ctxs[i], fmt.Sprint("party ", i+1), nil))
	}
	all[0].Start(t.Context())
	for _, p := range all {
		if err := p.Wait(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
	}
	stories := make([]story, n)
	var done sync.WaitGroup
	for i, p := range all {
		stories[i].sums = map[int][]uint32{}
		done.Go(func() {
			for step := range steps {
				switch {
				case i == 1 && step == 5, i == 2 && step == 9:
					stops[i]() // closes the page
					stories[i].err = errGone
					return
				case i == 3 && step == 12:
					p.seat.Log[0] ^= 1 // lies from now on
				case i == 4 && step%3 == 0:
					time.Sleep(2 * silence) // later than the round waits
				}
				sum, err := p.Sum(ctxs[i], step, wordsOf(i, step, words))
				if err != nil {
					stories[i].err = err
					return
				}
				stories[i].sums[step] = sum
				if i == 5 && p.answer != nil {
					p.line.send(ctxs[i], p.answer) // twice, and late
				}
			}
		})
	}
	done.Wait()
	present := m.Present()
	honest := []int{0, 4, 5, 6, 7, 8, 9}
	voids := 0
	for step := range steps {
		who := present[step+1]
		want := []uint32(nil)
		if who != nil {
			want = sumOf(who, step, words)
		} else {
			voids++
		}
		for _, i := range honest {
			if got, ok := stories[i].sums[step]; !ok || !slices.Equal(got, want) {
				t.Fatalf("step %d: party %d has another sum, or none (%v); present %v", step, i+1, stories[i].err, who)
			}
		}
	}
	if voids == 0 || voids > 3*steps/4 {
		t.Errorf("%d of %d rounds are void", voids, steps)
	}
	if over := (*OverError)(nil); !errors.As(stories[3].err, &over) && !errors.Is(stories[3].err, ErrTold) {
		t.Errorf("the liar ends with %v", stories[3].err)
	}
	for _, i := range honest {
		if all[i].Transcript() != all[0].Transcript() {
			t.Errorf("party %d has another log", i+1)
		}
	}
}

var errGone = errors.New("gone")

// TestBelowTheQuorumItEnds, and says why.
func TestBelowTheQuorumItEnds(t *testing.T) {
	m := newMeeting(t, agreed(3, 1, 2), 4, 9, silence)
	all := m.gathered(t, 3)
	all[1].Leave(t.Context())
	all[2].Leave(t.Context())
	var err error
	for step := 0; err == nil; step++ { // the round that was open is void
		_, err = all[0].Sum(t.Context(), step, make([]uint32, 4))
	}
	if over := (*OverError)(nil); !errors.As(err, &over) || over.Why != wire.BelowQuorum {
		t.Errorf("it ends with %v", err)
	}
}

// TestComingBack: a party whose page is gone comes back with what it kept, is told what it missed, and is in the
// sums again; others go on meanwhile. So does one whose connection breaks, in the same step.
func TestComingBack(t *testing.T) {
	const n, words, steps = 4, 5, 14
	m := newMeeting(t, agreed(n, 2, 2), words, steps, silence)
	ctx, closePage := context.WithCancel(t.Context())
	defer closePage()
	all := []*Party{m.enter(t, t.Context(), "a", nil), m.enter(t, t.Context(), "b", nil), m.enter(t, t.Context(), "c", nil), m.enter(t, ctx, "d", nil)}
	all[0].Start(t.Context())
	for _, p := range all {
		if err := p.Wait(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
	}
	var kept Seat
	away := make(chan struct{})
	sums := make([]map[int][]uint32, n)
	play := func(i int, p *Party, from, to int) {
		for step := from; step < to; step++ {
			if i < 3 && step == 9 {
				<-away // the others wait for it to be back, so that it is in some of the rounds
			}
			if i == 1 && step%4 == 2 {
				m.Cut(p.seat.Seat)
			}
			sum, err := p.Sum(t.Context(), step, wordsOf(i, step, words))
			if err != nil {
				t.Errorf("party %d, step %d: %v", i+1, step, err)
				return
			}
			sums[i][step] = sum
		}
	}
	var done sync.WaitGroup
	for i, p := range all {
		sums[i] = map[int][]uint32{}
		done.Go(func() {
			if i < 3 {
				play(i, p, 0, steps)
				return
			}
			play(i, p, 0, 4)
			kept = p.Seat()
			closePage()
			time.Sleep(200 * time.Millisecond)
			back := m.enter(t, t.Context(), "d", &kept)
			if err := back.Wait(t.Context(), nil); err != nil {
				t.Error(err)
			}
			close(away)
			play(i, back, 4, steps)
			all[i] = back
		})
	}
	done.Wait()
	present := m.Present()
	again := 0
	for step := range steps {
		var want []uint32
		if who := present[step+1]; who != nil {
			want = sumOf(who, step, words)
			if step > 4 && slices.Contains(who, 3) {
				again++
			}
		}
		for i := range n {
			if !slices.Equal(sums[i][step], want) {
				t.Errorf("step %d: party %d has another sum", step, i+1)
			}
		}
	}
	if again == 0 {
		t.Error("who came back is in no sum")
	}
	for _, p := range all {
		if p.Transcript() != all[0].Transcript() {
			t.Error("the logs differ")
		}
	}
}

// TestARoomRestarts: a round is void where the room's memory is lost while a sum is added up, and only there; all go on.
func TestARoomRestarts(t *testing.T) {
	const n, words, steps = 4, 5, 30
	m := newMeeting(t, agreed(n, 1, 3), words, steps)
	all := m.gathered(t, n)
	readies, added := map[uint32]int{}, map[uint32]int{}
	m.Lose = func(f wire.Frame) bool {
		switch f := f.(type) {
		case wire.Ready: // before a round is open
			readies[f.Entries]++
			return f.Entries%2 == 0 && readies[f.Entries] == 1
		case wire.Words: // while its sum is added up
			added[f.Round]++
			return f.Round%3 == 1 && added[f.Round] == 1
		}
		return false
	}
	sums := make([]map[int][]uint32, n)
	var done sync.WaitGroup
	for i, p := range all {
		sums[i] = map[int][]uint32{}
		done.Go(func() {
			for step := range steps {
				sum, err := p.Sum(t.Context(), step, wordsOf(i, step, words))
				if err != nil {
					t.Errorf("party %d, step %d: %v", i+1, step, err)
					return
				}
				sums[i][step] = sum
			}
		})
	}
	done.Wait()
	present := m.Present()
	for step := range steps {
		var want []uint32
		if who := present[step+1]; who != nil {
			want = sumOf(who, step, words)
		}
		if void := (step+1)%3 == 1; void != (want == nil) {
			t.Errorf("step %d: void is %v", step, want == nil)
		}
		for i := range n {
			if !slices.Equal(sums[i][step], want) {
				t.Errorf("step %d: party %d has another sum", step, i+1)
			}
		}
	}
}

// TestARoomThatLies: one that sends different sums, asks twice for a round with other parties, asks too few, or
// gives a seat a card of its own, gets nothing that one party alone would have sent otherwise, and is found.
func TestARoomThatLies(t *testing.T) {
	const words = 3
	lies := map[string]func(m *meeting) func(room.Conn, []byte) []byte{
		"different sums": func(*meeting) func(room.Conn, []byte) []byte {
			return func(to room.Conn, b []byte) []byte {
				if f, err := wire.Parse(b); err == nil {
					if s, ok := f.(wire.Sum); ok && to%2 == 0 {
						s.Words = slices.Clone(s.Words)
						s.Words[0]++
						return s.Append(nil)
					}
				}
				return b
			}
		},
		"too few": func(*meeting) func(room.Conn, []byte) []byte {
			return func(_ room.Conn, b []byte) []byte {
				if f, err := wire.Parse(b); err == nil {
					if r, ok := f.(wire.Round); ok {
						return wire.Round{Round: r.Round, Present: wire.Seats{}.With(0).With(1), Proofs: r.Proofs[:2]}.Append(nil)
					}
				}
				return b
			}
		},
		"a round again": func(*meeting) func(room.Conn, []byte) []byte {
			return func(_ room.Conn, b []byte) []byte {
				if f, err := wire.Parse(b); err == nil {
					if r, ok := f.(wire.Round); ok && r.Round == 2 {
						r.Round = 1
						return r.Append(nil)
					}
				}
				return b
			}
		},
		"a card of its own": func(m *meeting) func(room.Conn, []byte) []byte {
			return func(_ room.Conn, b []byte) []byte {
				if f, err := wire.Parse(b); err == nil {
					if r, ok := f.(wire.Roster); ok {
						var s Secret
						k, _ := NewKey()
						a, _ := m.guest.Agreement.Hash()
						_, signer, _ := ed25519.GenerateKey(nil)
						c := newCard(k, signer, "nobody", 1, a)
						r.Cards[2], _ = c.seal(s, a)
						return r.Append(nil)
					}
				}
				return b
			}
		},
	}
	for name, lie := range lies {
		t.Run(name, func(t *testing.T) {
			m := newMeeting(t, agreed(4, 0, 4), words, 6)
			m.Bend = lie(m)
			var done sync.WaitGroup
			all := make([]*Party, 4)
			for i := range all {
				all[i] = m.enter(t, t.Context(), fmt.Sprint(i), nil)
			}
			all[0].Start(t.Context())
			found := make([]error, 4)
			for i, p := range all {
				done.Go(func() {
					if found[i] = p.Wait(t.Context(), nil); found[i] != nil {
						p.Close()
						return
					}
					for step := range 6 {
						if _, found[i] = p.Sum(t.Context(), step, wordsOf(i, step, words)); found[i] != nil {
							p.Close()
							return
						}
					}
				})
			}
			done.Wait()
			for i, err := range found {
				if err == nil {
					t.Errorf("party %d notices nothing", i+1)
				}
			}
			answers := map[string]bool{}
			for _, f := range m.Seen() {
				if w, ok := f.(wire.Words); ok && name != "different sums" && w.Round > 1 {
					t.Errorf("round %d is answered", w.Round)
				} else if ok && w.Round > 1 {
					t.Errorf("words leave after parties were told different sums")
				} else if ok {
					answers[fmt.Sprint(w.Words)] = true
				}
			}
			if name == "too few" && len(answers) > 0 || len(answers) > 4 {
				t.Errorf("%d different answers leave", len(answers))
			}
		})
	}
}

// TestARoundIsAnsweredOnce: asked again with the same parties, a party sends the same bytes; with others, nothing.
func TestARoundIsAnsweredOnce(t *testing.T) {
	m := newMeeting(t, agreed(4, 1, 3), 5, 6)
	all := m.gathered(t, 4)
	p := all[0]
	ask := func(present ...int) wire.Round {
		f := wire.Round{Round: 1}
		for _, i := range present {
			f.Present = f.Present.With(i)
			f.Proofs = append(f.Proofs, prove(all[i%4].seat.Signer, p.seat.Entries, p.seat.Log))
		}
		return f
	}
	sent := func() (words [][]uint32) {
		for _, f := range m.Seen() {
			if w, ok := f.(wire.Words); ok {
				words = append(words, w.Words)
			}
		}
		return words
	}
	one, two := wordsOf(0, 0, 5), wordsOf(0, 1, 5)
	if err := p.reply(t.Context(), ask(0, 1, 2), one); err != nil {
		t.Fatal(err)
	}
	if err := p.reply(t.Context(), ask(0, 1, 2), two); err != nil {
		t.Fatal(err)
	}
	if w := sent(); len(w) != 2 || !slices.Equal(w[0], w[1]) {
		t.Errorf("asked twice, it sends %v", w)
	}
	for _, present := range [][]int{{0, 1, 3}, {0, 1, 2, 3}, {0, 1}, {1, 2, 3}, {0, 1, 9}} {
		if err := p.reply(t.Context(), ask(present...), one); err == nil || len(sent()) != 2 {
			t.Errorf("asked again with %v, it sends %d frames: %v", present, len(sent()), err)
		}
	}
	for _, round := range []uint32{0, 2, 1 << 31} {
		f := ask(0, 1, 2)
		f.Round = round
		if err := p.reply(t.Context(), f, one); err == nil {
			t.Errorf("round %d is answered after round 0", round)
		}
	}
}

// TestNoLifeAnswersARoundAgain: whoever comes back from what was kept answers no round that an earlier life has
// answered, whatever the room says, and none before its new card is in the log.
func TestNoLifeAnswersARoundAgain(t *testing.T) {
	m := newMeeting(t, agreed(3, 1, 2), 4, 9)
	var kept []Seat
	m.guest.Keep = func(s Seat) error { kept = append(kept, s); return nil }
	all := m.gathered(t, 3)
	p, other := all[0], all[1]
	ask := func(of *Party) wire.Round {
		f := wire.Round{Round: of.seat.Round + 1, Present: wire.Seats{}.With(0).With(1)}
		for _, q := range []*Party{p, other} {
			f.Proofs = append(f.Proofs, prove(q.seat.Signer, of.seat.Entries, of.seat.Log))
		}
		return f
	}
	before := p.Seat()
	if err := p.reply(t.Context(), ask(p), wordsOf(0, 0, 4)); err != nil || len(kept) != 1 || kept[0].Answered != 1 {
		t.Fatalf("%v; kept: %+v", err, kept)
	}
	sent := func() (n int) {
		for _, f := range m.Seen() {
			if _, ok := f.(wire.Words); ok {
				n++
			}
		}
		return n
	}
	p.Close()
	for name, seat := range map[string]Seat{"what was kept": kept[0], "an older seat": before} {
		back := m.enter(t, t.Context(), "party 1", &seat)
		back.listed = name == "what was kept" // as after its card has come
		if err := back.reply(t.Context(), ask(back), wordsOf(0, 1, 4)); err == nil || sent() != 1 {
			t.Errorf("%s: asked again, it sends %d answers: %v", name, sent(), err)
		}
		back.Close()
	}
	all[2].guest.Keep = func(Seat) error { return errors.New("full") }
	f := ask(all[2])
	f.Present = f.Present.With(2)
	f.Proofs = append(f.Proofs, prove(all[2].seat.Signer, all[2].seat.Entries, all[2].seat.Log))
	if err := all[2].reply(t.Context(), f, wordsOf(2, 0, 4)); err == nil || sent() != 1 {
		t.Errorf("what cannot be kept is sent: %v", err)
	}
}

// TestWhoHasTheSecretCannotTakeASeat: a party that colludes with the room, and so has the link's secret, makes no card and no
// proof of another's.
func TestWhoHasTheSecretCannotTakeASeat(t *testing.T) {
	m := newMeeting(t, agreed(3, 1, 2), 4, 9)
	all := m.gathered(t, 3)
	p := all[0]
	k, err := NewKey()
	if err != nil {
		t.Fatal(err)
	}
	agreement, _ := m.guest.Agreement.Hash()
	was := slices.Clone(p.seat.Cards)
	forged := newCard(k, all[2].seat.Signer, "party 2", was[1].Made+1, agreement)
	lent := forged
	lent.Signer = was[1].Signer // whose signature it has not
	replayed, _ := all[1].own.seal(m.guest.Secret, agreement)
	for name, c := range map[string]Card{"another's signer": forged, "a signature of another": lent} {
		sealed, err := c.seal(m.guest.Secret, agreement)
		if err != nil { // it does not get so far
			b, _ := json.Marshal(c)
			sealed, _ = m.guest.Secret.seal("cards", agreement[:], b)
		}
		p.replace(wire.Card{Seat: 1, Card: sealed})
		if got := p.seat.Cards[1]; len(got.Public) > 0 {
			t.Errorf("%s: the seat is taken by %+v", name, got)
		}
		p.seat.Cards[1] = was[1]
	}
	p.replace(wire.Card{Seat: 1, Card: replayed})
	if len(p.seat.Cards[1].Public) > 0 {
		t.Error("an old card takes the seat again")
	}
	p.seat.Cards[1] = was[1]
	// A card that is right, at another's seat, or with another's key.
	same := newCard(Key{all[2].key.private}, all[1].seat.Signer, "party 2", was[1].Made+1, agreement)
	sealed, _ := same.seal(m.guest.Secret, agreement)
	if p.replace(wire.Card{Seat: 1, Card: sealed}); len(p.seat.Cards[1].Public) > 0 {
		t.Error("two seats have one key")
	}
	p.seat.Cards[1] = was[1]
	if p.replace(wire.Card{Seat: 2, Card: replayed}); len(p.seat.Cards[2].Public) > 0 {
		t.Error("a card is taken at another's seat")
	}
	// A round with a seat that nobody has is disputed, not answered.
	f := wire.Round{Round: 1, Present: wire.Seats{}.With(0).With(1).With(2), Proofs: make([][wire.ProofSize]byte, 3)}
	f.Proofs[1] = prove(all[1].seat.Signer, p.seat.Entries, p.seat.Log)
	if err := p.reply(t.Context(), f, wordsOf(0, 0, 4)); err != nil {
		t.Error(err)
	}
	if d, ok := p.answer.(wire.Dispute); !ok || !slices.Equal(d.Seats.All(), []int{2}) {
		t.Errorf("it is answered by %+v", p.answer)
	}
}

// TestStrangersAndFools: who joins without the link's secret, sends a card that is none, or reloads its page again and again, ends
// nobody's run but its own.
func TestStrangersAndFools(t *testing.T) {
	const words, steps = 4, 12
	m := newMeeting(t, agreed(5, 3, 2), words, steps, silence)
	all := []*Party{m.enter(t, t.Context(), "a", nil), m.enter(t, t.Context(), "b<<<<&", nil), m.enter(t, t.Context(), strings.Repeat("<", MostName), nil)}
	lobby := all[2].Seat() // reloads before the start
	lobby.Cards = nil
	all[2].Close()
	all[2] = m.enter(t, t.Context(), "c", &lobby)
	stranger, err := m.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := stranger.Send(t.Context(), wire.Hello{Token: [wire.TokenSize]byte{7}, Card: []byte("x")}.Append(nil)); err != nil {
		t.Fatal(err)
	}
	all[0].Start(t.Context())
	for _, p := range all {
		if err := p.Wait(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
	}
	var done sync.WaitGroup
	sums := make([]int, 3)
	for i, p := range all {
		done.Go(func() {
			for step := range steps {
				if i == 2 && step == 4 {
					seat := p.Seat()
					for range 3 { // reloaded before anything is kept
						p.Close()
						p = m.enter(t, t.Context(), "c", &seat)
					}
				}
				if i == 1 && step == 6 { // a card that is none, for its own seat
					c, err := m.Dial(t.Context())
					if err != nil {
						t.Error(err)
						return
					}
					_ = c.Send(t.Context(), wire.Hello{Token: p.seat.Token, Entries: p.seat.Entries, Card: []byte("x")}.Append(nil))
					_ = c.Close()
				}
				sum, err := p.Sum(t.Context(), step, wordsOf(i, step, words))
				if err != nil {
					if i != 1 {
						t.Errorf("party %d, step %d: %v", i+1, step, err)
					}
					return
				}
				if sum != nil {
					sums[i]++
				}
			}
		})
	}
	done.Wait()
	if sums[0] == 0 || sums[0] != sums[2] {
		t.Errorf("the parties had %v sums", sums)
	}
}

// TestOneOtherOfSeveralStopsNobody: one proof that differs is disputed, and says that the room lies where two differ or
// where there are only two parties.
func TestOneOtherOfSeveralStopsNobody(t *testing.T) {
	for _, c := range []struct {
		parties, lie int
		present      wire.Seats
		told         bool
	}{
		{3, 1, wire.Seats{}.With(0).With(1), false},
		{3, 1, wire.Seats{}.With(0).With(1).With(2), false},
		{3, 2, wire.Seats{}.With(0).With(1).With(2), true},
		{2, 1, wire.Seats{}.With(0).With(1), true},
	} {
		all := newMeeting(t, agreed(c.parties, 0, 2), 4, 9).gathered(t, c.parties)
		f := wire.Round{Round: 1, Present: c.present}
		for i, at := range c.present.All() {
			p := all[at]
			f.Proofs = append(f.Proofs, prove(p.seat.Signer, p.seat.Entries, p.seat.Log))
			if at > 0 && at <= c.lie {
				f.Proofs[i][0] ^= 1
			}
		}
		if bad, told := all[0].judge(f); told != c.told || len(bad.All()) != c.lie {
			t.Errorf("%d of %d lie: %v are disputed, and the room lies: %v", c.lie, c.parties, bad.All(), told)
		}
	}
}

// TestAgreementsAreCompared: two agreements differ where their data and configurations do, by name, and what
// each party decides alone is no difference.
func TestAgreementsAreCompared(t *testing.T) {
	base := func() (run.Config, data.Meta) {
		return run.Config{Method: "constant", MaxGradNorm: 1, Threads: 2, Together: run.Together{Parties: 3, Quorum: 3}},
			data.Meta{Features: 2, Outputs: 2, TrainRows: 5, Name: "mine.csv", Columns: []data.Column{{Name: "age", Kind: data.Numeric, Missing: 3}, {Name: "sex", Kind: data.Categorical, Categories: []string{"f", "m"}}}}
	}
	cfg, meta := base()
	one := NewAgreement(cfg, meta, []string{"no", "yes"}, [32]byte{1})
	cfg, meta = base()
	cfg.Threads, cfg.Note, cfg.CSV.Delimiter, meta.TrainRows, meta.Name, meta.Columns[0].Missing = 7, "x", ";", 9, "other.csv", 0
	same := NewAgreement(cfg, meta, []string{"no", "yes"}, [32]byte{2})
	if d, err := Differences(&one, &same); err != nil || len(d) > 0 {
		t.Errorf("%v: %v", d, err)
	}
	cfg, meta = base()
	cfg.MaxGradNorm, meta.Columns[1].Categories = 2, []string{"f", "m", "x"}
	other := NewAgreement(cfg, meta, []string{"no", "maybe"}, [32]byte{1})
	d, err := Differences(&one, &other)
	want := []run.Difference{{Path: "config.max_grad_norm", Theirs: "1", Yours: "2"}, {Path: "data.classes.2", Theirs: `"yes"`, Yours: `"maybe"`}, {Path: "data.columns.2.categories.3", Theirs: "", Yours: `"x"`}}
	if err != nil || !slices.Equal(d, want) {
		t.Errorf("%v: %v", d, err)
	}
	sealed, err := SealAgreement(Secret{1}, &one)
	if err != nil {
		t.Fatal(err)
	}
	back, err := OpenAgreement(Secret{1}, sealed)
	if err != nil {
		t.Fatal(err)
	}
	was, _ := one.Hash()
	is, _ := back.Hash()
	if was != is {
		t.Error("an agreement comes back as another")
	}
	if _, err := OpenAgreement(Secret{2}, sealed); err == nil {
		t.Error("an agreement is read without its secret")
	}
	sealed[len(sealed)/2] ^= 1
	if _, err := OpenAgreement(Secret{1}, sealed); err == nil {
		t.Error("an agreement that was changed is read")
	}
}

// TestAgreementsOnWhatIsOnesOwnAreRefused: a link decides nothing about a guest's device, notes or files.
func TestAgreementsOnWhatIsOnesOwnAreRefused(t *testing.T) {
	for name, bend := range map[string]func(*Agreement){
		"threads": func(a *Agreement) { a.Config.Threads = 1 << 20 },
		"a batch": func(a *Agreement) { a.Config.MaxPhysicalBatchSize = 1 << 30 },
		"a note":  func(a *Agreement) { a.Config.Note = "<b>pay here</b>" },
		"files":   func(a *Agreement) { a.Config.CSV.HoldOut = "row" },
		"data":    func(a *Agreement) { a.Config.Data = "digits" },
		"blind":   func(a *Agreement) { a.Config.Blind = true },
		"nobody":  func(a *Agreement) { a.Config.Together = run.Together{} },
		"missing": func(a *Agreement) { a.Data.Columns = []data.Column{{Name: "x", Missing: 3}} },
	} {
		a := agreed(3, 1, 2)
		bend(&a)
		sealed, err := SealAgreement(Secret{1}, &a)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := OpenAgreement(Secret{1}, sealed); err == nil {
			t.Errorf("an agreement on %s is read", name)
		}
	}
	a := agreed(3, 1, 2)
	if sealed, _ := SealAgreement(Secret{1}, &a); sealed != nil {
		if _, err := OpenAgreement(Secret{1}, sealed); err != nil {
			t.Error(err)
		}
	}
}
