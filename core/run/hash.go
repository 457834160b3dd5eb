package run

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"sort"
	"strconv"
	"strings"
)

// Hash is the configuration as a URL fragment without the '#': key=value pairs
// joined by '&', nested fields with a dot (model.kind=mlp), lists with commas.
// It never holds data.
func (c Config) Hash() (string, error) {
	b, err := json.Marshal(c)
	if err != nil {
		return "", fmt.Errorf("run: hash: %w", err)
	}
	tree, err := decode[map[string]any](b)
	if err != nil {
		return "", fmt.Errorf("run: hash: %w", err)
	}
	var pairs []string
	flatten("", tree, &pairs)
	sort.Strings(pairs)
	return strings.Join(pairs, "&"), nil
}

// decode keeps numbers as they are written: a seed needs all its 64 bits.
func decode[T any](b []byte) (v T, err error) {
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	err = dec.Decode(&v)
	return v, err
}

func flatten(prefix string, tree map[string]any, pairs *[]string) {
	for key, v := range tree {
		// A column's name may have dots, which part the path here.
		key = prefix + strings.ReplaceAll(url.QueryEscape(key), ".", "%2E")
		switch v := v.(type) {
		case map[string]any:
			flatten(key+".", v, pairs)
		case []any:
			items := make([]string, len(v))
			for i, item := range v {
				// A colon parts the words of a layer, and nothing here.
				items[i] = strings.ReplaceAll(url.QueryEscape(fmt.Sprint(item)), "%3A", ":")
			}
			*pairs = append(*pairs, key+"="+strings.Join(items, ","))
		default:
			*pairs = append(*pairs, key+"="+url.QueryEscape(fmt.Sprint(v)))
		}
	}
}

// MaxHash is longer than any configuration but that of a table with thousands of
// columns; it bounds the work of a hostile link.
const MaxHash = 1 << 16

// ParseHash is [ReadHash] for those who do not ask what was dropped.
func ParseHash(s string) Config {
	c, _ := ReadHash(s)
	return c
}

// Dropped lists the parts of a hash that were not taken. Its zero value has none.
type Dropped struct {
	Keys []string // of the first few settings, shortened
	More int      // how many settings there are beyond those
}

func (d *Dropped) addKey(key string) {
	const most, long = 20, 100
	if len(d.Keys) == most {
		d.More++
		return
	}
	if len(key) > long {
		key = strings.ToValidUTF8(key[:long], "") + "…"
	}
	d.Keys = append(d.Keys, key)
}

// ReadHash reads what Hash wrote, with or without the '#'. Keys it does not know
// and values that do not fit their key are left out, so that links survive other
// versions of the page; a key with a number that is no field is kept as a
// parameter of the method. Settings beyond the first 65,536 bytes are left out
// whole. What was left out is returned.
func ReadHash(s string) (c Config, dropped Dropped) {
	tree := map[string]any{}
	read := 0
	for pair := range strings.SplitSeq(strings.TrimPrefix(s, "#"), "&") {
		read += len(pair) + len("&")
		key, value, ok := strings.Cut(pair, "=")
		if !ok || pair == "=" {
			if strings.Contains(pair, "%") { // more than the name of a place on the page
				dropped.addKey(pair)
			}
			continue
		}
		if read > MaxHash+len("&") {
			dropped.addKey(key)
			continue
		}
		path, v, err := reading(key, value)
		if err != nil {
			dropped.addKey(key)
			continue
		}
		put(tree, path, v)
	}
	// Each setting fits by itself, so all do together.
	b, err := json.Marshal(tree)
	if err == nil {
		err = json.Unmarshal(b, &c)
	}
	if err != nil {
		return Config{}, Dropped{More: len(tree)}
	}
	return c, dropped
}

// reading finds what a pair of a hash sets, by way of JSON so that there is one
// list of fields only.
func reading(key, value string) (path []string, v any, err error) {
	const deepest = 4 // csv.bounds.age.lo
	if path = strings.SplitN(key, ".", deepest+1); len(path) > deepest {
		return nil, nil, fmt.Errorf("run: no field is as deep as %q", key)
	}
	for i := range path {
		if path[i], err = url.QueryUnescape(path[i]); err != nil {
			return nil, nil, err
		}
	}
	for _, v := range readings(value) {
		tree := map[string]any{}
		put(tree, path, v)
		b, err := json.Marshal(tree)
		if err == nil && json.Unmarshal(b, new(Config)) == nil {
			return path, v, nil
		}
	}
	return nil, nil, fmt.Errorf("run: %q does not fit %q", value, key)
}

// readings are the JSON values that a hash's text may stand for, best first.
func readings(value string) []any {
	text, err := url.QueryUnescape(value)
	if err != nil {
		return nil
	}
	var all []any
	if b := []byte(text); json.Valid(b) {
		if v, err := decode[any](b); err == nil && v != nil {
			all = append(all, v)
		}
	}
	all = append(all, text)
	if yes, err := strconv.ParseBool(text); err == nil { // as people write it: 1, TRUE
		all = append(all, yes)
	}
	var numbers, texts []any
	for item := range strings.SplitSeq(value, ",") {
		if _, err := strconv.ParseFloat(item, 64); err == nil && json.Valid([]byte(item)) {
			numbers = append(numbers, json.Number(item))
		}
		if text, err = url.QueryUnescape(item); err == nil {
			texts = append(texts, text)
		}
	}
	if len(numbers) == len(texts) {
		all = append(all, numbers)
	}
	return append(all, texts)
}

func put(tree map[string]any, path []string, v any) {
	for _, key := range path[:len(path)-1] {
		sub, ok := tree[key].(map[string]any)
		if !ok {
			sub = map[string]any{}
			tree[key] = sub
		}
		tree = sub
	}
	tree[path[len(path)-1]] = v
}
