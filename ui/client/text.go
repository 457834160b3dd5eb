package client

import (
	"fmt"

	"clipscope/ui/browser"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// Text fetches a file of this site, or has it from what is kept for offline use.
func (JS) Text(url string, done func([]byte, error)) {
	await(app.Window().Call("fetch", url), func(response app.Value, err error) {
		if err == nil && !response.Get("ok").Bool() {
			err = fmt.Errorf("the server answered %d", response.Get("status").Int())
		}
		if err != nil {
			done(nil, fmt.Errorf("client: %s: %w", url, err))
			return
		}
		browser.Settle(response.Call("text"), func(v app.Value, rejected bool) {
			if rejected {
				done(nil, fmt.Errorf("client: %s: %w", url, toError(v)))
				return
			}
			done([]byte(v.String()), nil)
		})
	})
}
