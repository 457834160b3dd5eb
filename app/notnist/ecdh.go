// Package ecdh replaces Go's curves of NIST in the page's program. crypto/ecdh has them beside X25519, by which parties
// agree on masks, and they would be 90 kB of what a visitor fetches, most of it a table. web/overlay.mjs puts this
// one in the place of crypto/internal/fips140/ecdh.
package ecdh

import (
	"errors"
	"io"
)

var errNone = errors.New("ecdh: the page has X25519 alone")

// Curve is a curve that is not there.
type Curve struct{}

// PrivateKey is a key on none.
type PrivateKey struct{}

// Bytes returns nothing.
func (*PrivateKey) Bytes() []byte { return nil }

// PublicKey returns none.
func (*PrivateKey) PublicKey() *PublicKey { return nil }

// PublicKey is a key on none.
type PublicKey struct{}

// Bytes returns nothing.
func (*PublicKey) Bytes() []byte { return nil }

// P256 returns no curve.
func P256() *Curve { return nil }

// P384 returns no curve.
func P384() *Curve { return nil }

// P521 returns no curve.
func P521() *Curve { return nil }

// GenerateKey returns an error.
func GenerateKey(*Curve, io.Reader) (*PrivateKey, error) { return nil, errNone }

// NewPrivateKey returns an error.
func NewPrivateKey(*Curve, []byte) (*PrivateKey, error) { return nil, errNone }

// NewPublicKey returns an error.
func NewPublicKey(*Curve, []byte) (*PublicKey, error) { return nil, errNone }

// ECDH returns an error.
func ECDH(*Curve, *PrivateKey, *PublicKey) ([]byte, error) { return nil, errNone }
