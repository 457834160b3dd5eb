package together

import (
	"crypto/ecdh"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"clipscope/core/together/wire"
)

// Card says who takes a seat. It travels sealed: a room cannot read it, and cannot make one.
type Card struct {
	Name   string `json:"name"`
	Public []byte `json:"public"`         // the X25519 key that masks are agreed on by
	Times  int    `json:"times,omitzero"` // how often the party has come back to its seat with another key
}

// MostName bounds the bytes of a name.
const MostName = 80

// Key is a party's secret half of its card's. It lives as long as the page does: who comes back has another.
type Key struct{ private *ecdh.PrivateKey }

// NewKey draws a key.
func NewKey() (Key, error) {
	k, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		return Key{}, fmt.Errorf("together: no randomness for a key: %w", err)
	}
	return Key{k}, nil
}

// Card returns the card of the key's owner.
func (k Key) Card(name string, times int) Card {
	return Card{name, k.private.PublicKey().Bytes(), times}
}

func (c *Card) check() error {
	switch _, err := ecdh.X25519().NewPublicKey(c.Public); {
	case err != nil:
		return fmt.Errorf("together: a card's key: %w", err)
	case c.Name == "" || len(c.Name) > MostName || !utf8.ValidString(c.Name):
		return fmt.Errorf("together: a name of %d bytes; 1 … %d of text can stand on a card", len(c.Name), MostName)
	case c.Times < 0:
		return fmt.Errorf("together: a card of the %dth time", c.Times)
	}
	return nil
}

// seal returns the card as it travels, for one agreement.
func (c *Card) seal(s Secret, agreement [32]byte) ([]byte, error) {
	if err := c.check(); err != nil {
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
	return c, c.check()
}
