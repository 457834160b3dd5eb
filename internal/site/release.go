//go:build !js

package site

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"html"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// stamp is the date of every file in a release's archive: the least
// that zip archives know, so that whoever packs it anew loses nothing.
var stamp = time.Date(1980, time.January, 1, 0, 0, 0, 0, time.UTC)

// Publish writes a release into a folder, replacing what was there: the site as an
// archive, the SHA-256 sums of the site's files, what it is made of (CycloneDX) and on
// what terms, and the sums of these four. The same sources, for the same prefix and by
// the same tools, make the same bytes.
func (s Site) Publish(folder string) error {
	name := "clipscope-" + release
	if err := replaceable(folder, "SHA256SUMS"); err != nil {
		return fmt.Errorf("release: %w", err)
	}
	s.Stories = false
	s.Out = folder + ".next/site"
	if err := s.Generate(); err != nil {
		return err
	}
	var archive, sums bytes.Buffer
	if err := errors.Join(archiveTo(&archive, os.DirFS(s.Out), name), sumsTo(&sums, os.DirFS(s.Out))); err != nil {
		return fmt.Errorf("release: %w", err)
	}
	parts := map[string][]byte{name + ".tar.gz": archive.Bytes(), name + ".files.sha256": sums.Bytes()}
	for from, to := range map[string]string{"sbom.json": name + ".cdx.json", "licenses.txt": name + ".licenses.txt"} {
		b, err := os.ReadFile(filepath.Join(s.Wasm, from))
		if err != nil {
			return fmt.Errorf("release: run make release: %w", err)
		}
		parts[to] = b
	}
	next := filepath.Dir(s.Out)
	if err := os.RemoveAll(s.Out); err != nil {
		return fmt.Errorf("release: %w", err)
	}
	for name, b := range parts {
		if err := os.WriteFile(filepath.Join(next, name), b, 0o644); err != nil {
			return fmt.Errorf("release: %w", err)
		}
	}
	var all bytes.Buffer
	if err := sumsTo(&all, os.DirFS(next)); err != nil {
		return fmt.Errorf("release: %w", err)
	}
	err := errors.Join(os.WriteFile(filepath.Join(next, "SHA256SUMS"), all.Bytes(), 0o644), os.RemoveAll(folder), os.Rename(next, folder))
	if err != nil {
		return fmt.Errorf("release: %w", err)
	}
	return nil
}

// archiveTo writes a tar of all files, packed by gzip, in a folder of that name. Of files
// it takes names and contents alone: who owns them, who may read them and since when is
// the same everywhere.
func archiveTo(w io.Writer, files fs.FS, folder string) error {
	packed, err := gzip.NewWriterLevel(w, gzip.BestCompression) // whose header has neither name nor time
	if err != nil {
		return err
	}
	t := tar.NewWriter(packed)
	err = eachFile(files, func(name string, b []byte) error {
		h := tar.Header{Typeflag: tar.TypeReg, Name: path.Join(folder, name), Size: int64(len(b)), Mode: 0o644, ModTime: stamp, Format: tar.FormatUSTAR}
		if err := t.WriteHeader(&h); err != nil {
			return err
		}
		_, err := t.Write(b)
		return err
	})
	return errors.Join(err, t.Close(), packed.Close())
}

// sumsTo writes the files' sums as sha256sum does, and reads.
func sumsTo(w io.Writer, files fs.FS) error {
	return eachFile(files, func(name string, b []byte) error {
		_, err := fmt.Fprintf(w, "%x  %s\n", sha256.Sum256(b), name)
		return err
	})
}

// eachFile calls f for every file, in the order of their names' bytes.
func eachFile(files fs.FS, f func(name string, b []byte) error) error {
	return fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		return f(name, b)
	})
}

// writeVerify writes the page that says how what is running is compared with a release.
func (s Site) writeVerify(out string) error {
	version, err := s.version(out)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(out, "verify.html"), s.verifyPage(shown(version)), 0o644)
}

// verifyPage returns that page for a site of a version.
func (s Site) verifyPage(version string) []byte {
	said := strings.NewReplacer("{{version}}", version, "{{release}}", release, "{{made}}", html.EscapeString(s.released())).Replace(verifyHTML)
	return alone{title: "Comparing with a release", at: "verify.html", main: said}.html(s.Prefix)
}

// released is the command that makes a release with the files of this site.
func (s Site) released() string {
	command := "make release"
	if s.Prefix != "" {
		command += " PREFIX=" + s.Prefix
	}
	if len(s.Frames) > 0 {
		command += ` FRAME_ANCESTORS="` + strings.Join(s.Frames, " ") + `"`
	}
	if s.Links {
		command += " LINKS=yes"
	}
	return command
}

const verifyHTML = `<h1>Is this what was released?</h1>
<p>This site calls itself <strong id="version">{{version}}</strong>: the release, and after the + the beginning of a hash of all that a browser keeps of
it. The page's console says the same to <code>clipscope.version</code>. That is what a site says of itself; below is how to see for yourself.</p>
<h2 id="files">Compare the files that the host sends</h2>
<p>A release lists the SHA-256 sum of every file of the site in <code>clipscope-{{release}}.files.sha256</code>. Get that list from where you trust it,
not from this site, or make it: <code id="made">{{made}}</code> of the same sources with the same Go and Node writes the same bytes, in
<code>release/</code>; its <code>SHA256SUMS</code> has the list's own sum. Then, with the site's address:</p>
<pre tabindex="0"><code>site=https://example.org
while read -r sum name; do
  case $name in _headers|.nojekyll) continue;; esac
  got=$(curl -fsSL --compressed "$site/${name%index.html}" | sha256sum)
  [ "${got%% *}" = "$sum" ] || echo "differs: $name"
done &lt; clipscope-{{release}}.files.sha256</code></pre>
<p>No line means that every file is the release's. A site below a path, one that other pages may show, and one whose host keeps short links have other
files each: the command above is for one like this.</p>
<h2 id="kept">Compare what this browser runs</h2>
<p>After the first visit a browser runs what it keeps, not what the host sends now. In the developer tools' console, on any page of this site, this
lists the sums of all that is kept:</p>
<pre tabindex="0"><code>for (const key of await caches.keys()) {
  if (!key.startsWith("clipscope ")) continue; // another site's
  const cache = await caches.open(key);
  for (const request of await cache.keys()) {
    if (request.url.endsWith("?whole")) continue; // a note that all is there
    const bytes = await (await cache.match(request)).arrayBuffer();
    const sum = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
    console.log([...sum].map((b) => b.toString(16).padStart(2, "0")).join(""), new URL(request.url).pathname);
  }
}</code></pre>
<p>Compare these with the list, where <code>/</code> stands for <code>index.html</code> and <code>/use/</code> for <code>use/index.html</code>. The
service worker itself, <code>app-worker.js</code>, is not among them: the tools show its text under Application, or in Firefox under
about:debugging.</p>
<h2 id="proves">What that shows, and what not</h2>
<ul>
<li>Equal sums show that these bytes are those of the release. What the release does you can read in its sources, and that it comes of them you can
repeat; neither is shown by a sum.</li>
<li>The first comparison shows what the host sent to <em>you, then</em>. It could send something else to another visitor, or tomorrow. The second shows
what this browser had kept when you looked.</li>
<li>A site that lies could also lie about its version, and its service worker about what is kept. The tools of the browser, and curl, do not ask the
site.</li>
<li>Neither shows that the browser, its extensions or the device are as they should be, nor whose release it is: for that, take the list from where
its authors keep their sources.</li>
</ul>
`
