package together

import (
	"bytes"
	"crypto/ecdh"
	"fmt"
	"slices"

	"clipscope/core/chacha"
	"clipscope/core/privacy"
	"clipscope/core/together/wire"
)

// masks hide a party's words in a round. Of each pair one adds what the other
// takes away, so that they cancel in the sum of those who have each other in mind.
//
// # Guarantee
//
// The mask of a pair in a round is a stream of its own: the key is of the two public keys, and of the log's
// first entry, and the nonce is the round. It is used once for words, as a party answers a round with one set of others
// alone. Words that have at least one mask of which the reader has neither key are uniform to it.
type masks struct {
	own   Key
	root  [32]byte // the log's first entry, hashed
	pairs map[int]pair
}

type pair struct {
	public []byte
	key    privacy.Key
	adds   bool // and does not take away
}

func newMasks(own Key, root [32]byte) *masks { return &masks{own, root, map[int]pair{}} }

// meet agrees with a seat's owner on the key of the pair.
func (m *masks) meet(seat int, public []byte) error {
	if p, ok := m.pairs[seat]; ok && bytes.Equal(p.public, public) {
		return nil
	}
	theirs, err := ecdh.X25519().NewPublicKey(public)
	if err != nil {
		return fmt.Errorf("together: the key of seat %d: %w", seat, err)
	}
	shared, err := m.own.private.ECDH(theirs)
	if err != nil {
		return fmt.Errorf("together: the key of seat %d: %w", seat, err)
	}
	ours := m.own.private.PublicKey().Bytes()
	low, high := ours, public
	order := bytes.Compare(ours, public)
	if order > 0 {
		low, high = public, ours
	}
	if order == 0 {
		return fmt.Errorf("together: seat %d has this party's own key", seat)
	}
	key, err := derive(shared, m.root[:], "masks "+string(low)+string(high))
	if err != nil {
		return err
	}
	m.pairs[seat] = pair{public: slices.Clone(public), key: privacy.KeyFrom(key), adds: order < 0}
	return nil
}

// add masks the words of a round in which these are present, of whom the party itself has seat own.
func (m *masks) add(words []uint32, round uint32, present wire.Seats, own int) error {
	others := 0
	for _, seat := range present.All() {
		if seat == own {
			continue
		}
		p, ok := m.pairs[seat]
		if !ok {
			return fmt.Errorf("together: seat %d is asked for words, and nobody has taken it", seat)
		}
		p.mask(words, round)
		others++
	}
	if others == 0 {
		return fmt.Errorf("together: round %d has nobody to hide this party's words behind", round)
	}
	return nil
}

func (p *pair) mask(words []uint32, round uint32) {
	src := chacha.NewStream(p.key, [3]uint32{'m', round, 0})
	var sign uint32 = 1
	if !p.adds {
		sign = ^uint32(0) // −1
	}
	for i := 0; i < len(words); i += 2 {
		w := src.Uint64()
		words[i] += sign * uint32(w)
		if i+1 < len(words) {
			words[i+1] += sign * uint32(w>>32)
		}
	}
}
