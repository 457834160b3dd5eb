package together

import (
	"bytes"
	"crypto/ecdh"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"clipscope/core/together/wire"
)

// Card says who takes a seat. It travels sealed: a room cannot read it, and cannot make one. Who comes back to
// a seat shows another card of the same signer.
type Card struct {
	Name      string `json:"name"`
	Public    []byte `json:"public"` // the X25519 key that masks are agreed on by: a new one each time
	Signer    []byte `json:"signer"` // the Ed25519 key that the seat's cards and proofs are signed by
	Made      int64  `json:"made"`   // when, in microseconds since 1970: a later card takes the place of an earlier one
	Signature []byte `json:"signature"`
}

// MostName bounds the bytes of a name.
const MostName = 80

// Key is the secret half of what masks are agreed on by. It lives as long as the page does.
type Key struct{ private *ecdh.PrivateKey }

// NewKey draws a key.
func NewKey() (Key, error) {
	k, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		return Key{}, fmt.Errorf("together: no randomness for a key: %w", err)
	}
	return Key{k}, nil
}

// newCard makes the card of a key's owner, signed for one agreement.
func newCard(k Key, signer ed25519.PrivateKey, name string, made int64, agreement [32]byte) Card {
	c := Card{Name: name, Public: k.private.PublicKey().Bytes(), Signer: signer.Public().(ed25519.PublicKey), Made: made}
	c.Signature = ed25519.Sign(signer, c.signed(agreement))
	return c
}

// signed returns the bytes that a card's signature is of.
func (c *Card) signed(agreement [32]byte) []byte {
	b := append([]byte("clipscope together 1: card "), agreement[:]...)
	b = append(append(b, c.Public...), c.Signer...)
	b = binary.LittleEndian.AppendUint64(b, uint64(c.Made))
	return append(b, c.Name...)
}

// anyKey agrees with every key but those of which there is nothing secret to agree on.
var anyKey, _ = ecdh.X25519().NewPrivateKey(bytes.Repeat([]byte{9}, 32))

func (c *Card) check(agreement [32]byte) error {
	public, err := ecdh.X25519().NewPublicKey(c.Public)
	if err == nil {
		_, err = anyKey.ECDH(public)
	}
	switch {
	case err != nil:
		return fmt.Errorf("together: a card's key: %w", err)
	case len(c.Name) > MostName:
		return fmt.Errorf("together: a name of %d bytes; take one of %d or fewer", len(c.Name), MostName)
	case strings.TrimSpace(c.Name) != c.Name || c.Name == "" || strings.ContainsFunc(c.Name, func(r rune) bool { return !strconv.IsPrint(r) || r == utf8.RuneError }):
		return fmt.Errorf("together: the name %q is not one that others can read: take letters, digits and signs", c.Name)
	case len(c.Signer) != ed25519.PublicKeySize || !ed25519.Verify(c.Signer, c.signed(agreement), c.Signature):
		return errors.New("together: a card that its signer has not signed")
	}
	return nil
}

// seal returns the card as it travels, for one agreement.
func (c *Card) seal(s Secret, agreement [32]byte) ([]byte, error) {
	if err := c.check(agreement); err != nil {
		return nil, err
	}
	b, err := json.Marshal(c)
	if err != nil {
		return nil, fmt.Errorf("together: a card: %w", err)
	}
	b, err = s.seal("cards", agreement[:], b)
	if err == nil && len(b) > wire.MostCard {
		err = fmt.Errorf("together: a card of %d bytes, which are more than %d", len(b), wire.MostCard)
	}
	return b, err
}

func openCard(s Secret, agreement [32]byte, sealed []byte) (Card, error) {
	var c Card
	b, err := s.open("cards", agreement[:], sealed)
	if err != nil {
		return c, err
	}
	if err := json.Unmarshal(b, &c); err != nil {
		return c, fmt.Errorf("together: a card: %w", err)
	}
	return c, c.check(agreement)
}

// proved returns the bytes that a seat signs to prove that it has taken in a log.
func proved(entries uint32, log [32]byte) []byte {
	return append(binary.LittleEndian.AppendUint32([]byte("clipscope together 1: log "), entries), log[:]...)
}

// prove returns the proof that the signer's seat has taken in so many entries, which are these.
func prove(signer ed25519.PrivateKey, entries uint32, log [32]byte) [wire.ProofSize]byte {
	return [wire.ProofSize]byte(ed25519.Sign(signer, proved(entries, log)))
}

// proves reports whether the card's seat has.
func (c *Card) proves(entries uint32, log [32]byte, proof [wire.ProofSize]byte) bool {
	return ed25519.Verify(c.Signer, proved(entries, log), proof[:])
}
