package worker

import "bytes"

// sent is a blob that can be looked at.
type sent struct{ bytes.Buffer }

func (b *sent) Sent() any { return b.String() }
