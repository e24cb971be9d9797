package config

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"tutti/coll"
	"tutti/internal/lazyregexp"
)

// value says which values a key may have. It has a function that reads the key's value, and a JSON schema.
type value struct {
	read   func(v any) error // checks and stores a value from YAML, or the text of a variable or flag
	schema schema
	words  []string // all allowed values; nil if there is no list of them
}

func text(at *string, check func(string) error) value {
	read := func(v any) error {
		s, ok := v.(string)
		if !ok {
			return fmt.Errorf("%v: want text (put it in quotes)", v)
		}
		if err := check(s); err != nil {
			return err
		}
		*at = s
		return nil
	}
	return value{read: read, schema: schema{"type": "string"}}
}

func choice(at *string, allowed ...string) value {
	v := text(at, oneOf(allowed))
	v.schema, v.words = schema{"enum": allowed}, allowed
	return v
}

func oneOf(allowed []string) func(string) error {
	return func(s string) error {
		if !slices.Contains(allowed, s) {
			return NotOneOf(s, allowed)
		}
		return nil
	}
}

func whole(at *int, low, high int) value {
	read := func(v any) error {
		n, err := toWhole(v, int64(low), int64(high))
		if err == nil {
			*at = int(n)
		}
		return err
	}
	return value{read: read, schema: schema{"type": "integer", "minimum": low, "maximum": high}}
}

func seed(at *uint64) value {
	read := func(v any) error {
		n, err := toWhole(v, 0, math.MaxInt64)
		*at = uint64(n)
		return err
	}
	return value{read: read, schema: schema{"type": "integer", "minimum": 0}}
}

func toWhole(v any, low, high int64) (int64, error) {
	n, err := strconv.ParseInt(fmt.Sprint(v), 10, 64)
	if err != nil || n < low || n > high {
		return 0, fmt.Errorf("%s: want a whole number from %d to %d", quoted(v), low, high)
	}
	return n, nil
}

// quoted formats a value for a message. A text is in quotes.
func quoted(v any) string {
	if s, ok := v.(string); ok {
		return strconv.Quote(s)
	}
	return fmt.Sprint(v)
}

func number(at *float64, low, high float64) value {
	read := func(v any) error {
		x, err := strconv.ParseFloat(fmt.Sprint(v), 64)
		if err != nil || !(x >= low && x <= high) {
			return fmt.Errorf("%s: want a number from %g to %g", quoted(v), low, high)
		}
		*at = x
		return nil
	}
	return value{read: read, schema: schema{"type": "number", "minimum": low, "maximum": high}}
}

func boolean(at *bool) value {
	read := func(v any) error {
		switch v {
		case true, "true":
			*at = true
		case false, "false":
			*at = false
		default:
			return fmt.Errorf("%v: want true or false", v)
		}
		return nil
	}
	return value{read: read, schema: schema{"type": "boolean"}}
}

func duration(at *time.Duration) value {
	read := func(v any) error {
		s, ok := v.(string)
		d, err := time.ParseDuration(s)
		if !ok || err != nil || d < 0 {
			return fmt.Errorf("%v: want a duration with a unit, for example 90s, 15m or 2h30m", v)
		}
		*at = d
		return nil
	}
	return value{read: read, schema: schema{"type": "string", "pattern": `^([0-9]+(\.[0-9]*)?(ns|us|µs|ms|s|m|h))+$`}}
}

// sizeSchema returns the JSON schema of a value that is a number of bytes, with or without a unit.
func sizeSchema() schema {
	return schema{"type": []string{"integer", "string"}, "pattern": "^[0-9]+ *[A-Za-z]*$", "minimum": 0}
}

// size returns the type of a key whose value is a number of bytes, for example 1MiB.
func size(at *int64, least int64) value {
	read := func(v any) error {
		n, err := coll.ParseBytes(fmt.Sprint(v))
		if err == nil && n < least {
			err = fmt.Errorf("%v: want at least %s", v, coll.FormatBytes(least))
		}
		*at = n
		return err
	}
	return value{read: read, schema: sizeSchema()}
}

// items returns the type of a key whose value is a list with at least `least` items. In an environment variable
// or flag, commas separate the items. `item` is the JSON schema of one item. An error about an item
// contains the item's index.
func items[T comparable](at *[]T, least int, unique bool, item schema, parse func(any) (T, error)) value {
	read := func(v any) error {
		text, isText := v.(string)
		if isText {
			v = splitItems(text)
		}
		given, ok := v.([]any)
		switch {
		case !ok:
			return fmt.Errorf("%v: want a list", v)
		case len(given) < least:
			return errors.New("is an empty list: want at least one")
		}
		var faults faultList
		for i, item := range given {
			value, err := parse(item)
			if err == nil && unique && slices.Contains(*at, value) {
				err = fmt.Errorf("%v is given twice", item)
			}
			if err != nil {
				faults = append(faults, itemFault{fmt.Sprintf("[%d]", i), err})
			}
			*at = append(*at, value)
		}
		if isText && len(faults) > 0 && !balanced(text) {
			return fmt.Errorf("%q: want items with commas between them, all in one pair of square brackets or none, as 1,3 or [1,3]", text)
		}
		return faults.err()
	}
	s := schema{"type": "array", "items": item}
	if unique {
		s["uniqueItems"], s["minItems"] = true, least
	}
	return value{read: read, schema: s}
}

// splitItems returns the items of a list in a text such as 1,3 or, as in YAML, [1, 3].
func splitItems(text string) []any {
	text = strings.TrimSpace(text)
	if within, ok := strings.CutPrefix(text, "["); ok && strings.HasSuffix(within, "]") {
		text = strings.TrimSpace(strings.TrimSuffix(within, "]"))
	}
	out := []any{}
	if text == "" {
		return out
	}
	for _, part := range strings.Split(text, ",") {
		out = append(out, strings.TrimSpace(part))
	}
	return out
}

// balanced reports whether a text has no brackets but one pair of square ones around it.
func balanced(text string) bool {
	text = strings.TrimSpace(text)
	within, opened := strings.CutPrefix(text, "[")
	within, closed := strings.CutSuffix(within, "]")
	return opened == closed && !strings.ContainsAny(within, "[](){}")
}

func texts(at *[]string, least int, check func(string) error) value {
	return items(at, least, true, schema{"type": "string"}, textItem(check))
}

// arguments returns the type of a key whose value is a list of texts in which a text may occur twice.
func arguments(at *[]string) value {
	return items(at, 0, false, schema{"type": "string"}, textItem(isPrintable))
}

func textItem(check func(string) error) func(any) (string, error) {
	return func(item any) (string, error) {
		s, ok := item.(string)
		if !ok {
			return "", fmt.Errorf("%v: want text", item)
		}
		return s, check(s)
	}
}

func choices(at *[]string, least int, allowed ...string) value {
	v := texts(at, least, oneOf(allowed))
	v.schema["items"], v.words = schema{"enum": allowed}, allowed
	return v
}

func wholes(at *[]int) value {
	return items(at, 0, true, schema{"type": "integer", "minimum": 1, "maximum": 1 << 24}, func(item any) (int, error) {
		n, err := toWhole(item, 1, 1<<24)
		return int(n), err
	})
}

func sizes(at *[]int64) value {
	return items(at, 0, true, sizeSchema(), func(item any) (int64, error) { return coll.ParseBytes(fmt.Sprint(item)) })
}

// objects returns the type of a key whose value is a list of at least `least` objects. The function `keysOf` returns
// the keys of one object. The function `check`, which may be nil, completes an object and compares it with those
// before it.
func objects[T any](at *[]T, least int, keysOf func(*T) []field, check func(item *T, before []T) error) value {
	all := keysOf(new(T))
	read := func(v any) error {
		given, ok := v.([]any)
		if !ok || len(given) < least {
			return fmt.Errorf("want a list, each item with %s", allowedKeys(all))
		}
		var faults faultList
		for i, one := range given {
			var item T
			err := readObject(keysOf(&item), one)
			if err == nil && check != nil {
				err = check(&item, *at)
			}
			if err != nil {
				faults = append(faults, itemFault{fmt.Sprintf("[%d]", i), err})
			}
			*at = append(*at, item)
		}
		return faults.err()
	}
	s := schema{"type": "array", "items": sectionSchema(all, "")}
	if least > 0 {
		s["minItems"] = least
	}
	return value{read: read, schema: s}
}

// object returns the type of a key whose value is an object with one or more of the given keys.
func object(keys []field) value {
	return value{read: func(v any) error { return readObject(keys, v) }, schema: sectionSchema(keys, "")}
}

// allowedKeys returns a text that lists the keys of an object: those that it must have, then the others.
func allowedKeys(all []field) string {
	var required, others []string
	for _, f := range all {
		if f.initial == nil {
			required = append(required, f.key)
		} else {
			others = append(others, f.key)
		}
	}
	if required == nil {
		return "one or more of " + strings.Join(others, ", ")
	}
	return strings.Join(required, " and ") + ", perhaps " + strings.Join(others, ", ")
}

// readObject reads the keys of an object. It stops at the first fault.
func readObject(all []field, v any) error {
	m, ok := v.(map[string]any)
	if !ok || len(m) == 0 {
		return fmt.Errorf("want %s", allowedKeys(all))
	}
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if err := readKey(all, key, m[key]); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
	}
	for _, f := range all {
		if _, given := m[f.key]; !given && f.initial == nil {
			return fmt.Errorf("%s is missing: want %s", f.key, f.doc)
		}
	}
	return nil
}

func readKey(all []field, key string, v any) error {
	var names []string
	for _, f := range all {
		if f.key == key {
			return f.value.read(v)
		}
		names = append(names, f.key)
	}
	return fmt.Errorf("unknown key: %s", Hint(key, names))
}

// isPrintable returns an error if a text has control characters. Such characters could end a line in a
// script or in a file of another program.
func isPrintable(s string) error {
	for _, r := range s {
		if r == unicode.ReplacementChar || !unicode.IsPrint(r) && r != '\t' {
			return fmt.Errorf("%q: contains a character that cannot be printed", s)
		}
	}
	return nil
}

var variable = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*=`)

func isVariable(s string) error {
	if !variable.MatchString(s) {
		return fmt.Errorf("%q: want NAME=VALUE", s)
	}
	return isPrintable(s)
}

func anything(string) error { return nil }

func notEmpty(s string) error {
	if s == "" {
		return errors.New("is empty")
	}
	return nil
}

// isName returns an error unless a text has only the characters of algorithm names and can name a folder.
func isName(s string) error {
	if _, err := coll.NewAlgorithm(s); err != nil || strings.Trim(s, ".") == "" {
		return fmt.Errorf("%q: want letters, digits and ._-, not only dots", s)
	}
	return nil
}
