// Package headers lists the headers of every response, whoever serves the site.
package headers

import (
	"slices"
	"strings"
)

// Policy lets the page load its own files and nothing else: no script, no
// request and no worker of another origin. Text becomes code by the guard's leave
// alone (web/guard.js); workers start from text, and so inherit the policy.
//
// Guarantee: a browser that honours the policy sends no request of the page or of its
// workers to another origin: no fetch, socket, beacon, image, style, font, sound,
// film, script, import or form. It governs neither WebRTC, nor where the page goes, nor
// whose name is looked up, nor, without headers, the service worker, and Firefox 140
// applies it neither to EventSource nor to fonts in workers (153 does). What else
// refuses those, and what does not, is in docs/connections.md, which is tested.
const Policy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' data:; " +
	"connect-src 'self'; worker-src 'self' blob:; manifest-src 'self'; base-uri 'none'; form-action 'none'; " +
	"require-trusted-types-for 'script'; trusted-types default"

// sandbox is the part of the policy that only a header can have: that the page opens no window and
// sends no form. It saves files and asks before it is closed.
const sandbox = "; sandbox allow-scripts allow-same-origin allow-downloads allow-modals"

// All go with every response of a site that no other page may show in a frame.
var All = For(nil)

// For are the headers that go with every response of a site that pages of some origins may
// show in a frame, as [ParseFrames] gives them. Threads need the cross-origin isolation that
// two of them give; a host that does not send it has the service worker do so.
//
// Guarantee: a browser that honours them shows the site in no frame, but for one whose
// ancestors are all of those origins.
func For(frames []string) [][2]string {
	// What a page that is isolated itself shows must let itself be fetched by it; this
	// site's files are public.
	ancestors, fetched := "'none'", "same-origin"
	if len(frames) > 0 {
		ancestors, fetched = strings.Join(frames, " "), "cross-origin"
	}
	all := [][2]string{
		{"Content-Security-Policy", Policy + "; frame-ancestors " + ancestors + sandbox},
		{"Cross-Origin-Opener-Policy", "same-origin"},
		{"Cross-Origin-Embedder-Policy", "require-corp"},
		{"Cross-Origin-Resource-Policy", fetched},
		{"X-Content-Type-Options", "nosniff"},
		{"Referrer-Policy", "no-referrer"},
		{"X-Frame-Options", "DENY"},
		{"X-DNS-Prefetch-Control", "off"},
		{"Permissions-Policy", "camera=(), display-capture=(), geolocation=(), hid=(), identity-credentials-get=(), local-fonts=(), " +
			"microphone=(), midi=(), payment=(), publickey-credentials-create=(), publickey-credentials-get=(), serial=(), usb=(), xr-spatial-tracking=()"},
	}
	if len(frames) > 0 { // it knows no list of origins
		all = slices.DeleteFunc(all, func(h [2]string) bool { return h[0] == "X-Frame-Options" })
	}
	return all
}
