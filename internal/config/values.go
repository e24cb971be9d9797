package config

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"tutti/coll"
)

// value is the type of a key. It has a function that reads the key's value, and a JSON schema.
type value struct {
	read   reader
	schema schema
	words  []string // all allowed values; nil if there is no list of them
}

// reader stores the value of a key in a campaign. The value v comes from YAML, or is the text of an
// environment variable or flag.
type reader = func(c *Campaign, v any) error

func text(at func(*Campaign) *string, check func(string) error) value {
	read := func(c *Campaign, v any) error {
		s, ok := v.(string)
		if !ok {
			return fmt.Errorf("%v: want text (put it in quotes)", v)
		}
		if err := check(s); err != nil {
			return err
		}
		*at(c) = s
		return nil
	}
	return value{read: read, schema: schema{"type": "string"}}
}

// choice returns the type of a key whose value must be one of the allowed words.
func choice(at func(*Campaign) *string, allowed ...string) value {
	v := text(at, func(s string) error {
		if !slices.Contains(allowed, s) {
			return NotOneOf(s, allowed)
		}
		return nil
	})
	v.schema, v.words = schema{"enum": allowed}, allowed
	return v
}

// choiceOrUnset returns the type of a key whose value is empty or one of the allowed words.
func choiceOrUnset(at func(*Campaign) *string, allowed ...string) value {
	v := choice(at, allowed...)
	read := v.read
	v.read = func(c *Campaign, v any) error {
		if v == "" {
			*at(c) = ""
			return nil
		}
		return read(c, v)
	}
	v.schema = schema{"enum": append([]string{""}, allowed...)}
	return v
}

func whole(at func(*Campaign) *int, low, high int) value {
	read := func(c *Campaign, v any) error {
		n, err := toWhole(v, int64(low), int64(high))
		if err == nil {
			*at(c) = int(n)
		}
		return err
	}
	return value{read: read, schema: schema{"type": "integer", "minimum": low, "maximum": high}}
}

func seed() value {
	read := func(c *Campaign, v any) error {
		n, err := toWhole(v, 0, math.MaxInt64)
		c.Seed = uint64(n)
		return err
	}
	return value{read: read, schema: schema{"type": "integer", "minimum": 0}}
}

func toWhole(v any, low, high int64) (int64, error) {
	var n int64
	switch t := v.(type) {
	case int:
		n = int64(t)
	case int64:
		n = t
	case string:
		parsed, err := strconv.ParseInt(t, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("%q: want a whole number from %d to %d", t, low, high)
		}
		n = parsed
	default:
		return 0, fmt.Errorf("%v: want a whole number from %d to %d", v, low, high)
	}
	if n < low || n > high {
		return 0, fmt.Errorf("%d: want a whole number from %d to %d", n, low, high)
	}
	return n, nil
}

func number(at func(*Campaign) *float64, low, high float64) value {
	read := func(c *Campaign, v any) error {
		var x float64
		switch t := v.(type) {
		case float64:
			x = t
		case int:
			x = float64(t)
		case string:
			parsed, err := strconv.ParseFloat(t, 64)
			if err != nil {
				return fmt.Errorf("%q: want a number from %g to %g", t, low, high)
			}
			x = parsed
		default:
			return fmt.Errorf("%v: want a number from %g to %g", v, low, high)
		}
		if math.IsNaN(x) || x < low || x > high {
			return fmt.Errorf("%g: want a number from %g to %g", x, low, high)
		}
		*at(c) = x
		return nil
	}
	return value{read: read, schema: schema{"type": "number", "minimum": low, "maximum": high}}
}

func boolean(at func(*Campaign) *bool) value {
	read := func(c *Campaign, v any) error {
		switch v {
		case true, "true":
			*at(c) = true
		case false, "false":
			*at(c) = false
		default:
			return fmt.Errorf("%v: want true or false", v)
		}
		return nil
	}
	return value{read: read, schema: schema{"type": "boolean"}}
}

func duration(at func(*Campaign) *time.Duration) value {
	read := func(c *Campaign, v any) error {
		s, ok := v.(string)
		d, err := time.ParseDuration(s)
		if !ok || err != nil || d < 0 {
			return fmt.Errorf("%v: want a duration with a unit, for example 90s, 15m or 2h30m", v)
		}
		*at(c) = d
		return nil
	}
	return value{read: read, schema: schema{"type": "string", "pattern": `^([0-9]+(\.[0-9]*)?(ns|us|µs|ms|s|m|h))+$`}}
}

// list returns the items of a list. It splits the text of an environment variable or flag at commas.
func list(v any) ([]any, error) {
	switch t := v.(type) {
	case []any:
		return t, nil
	case []string:
		out := make([]any, len(t))
		for i, s := range t {
			out[i] = s
		}
		return out, nil
	case string:
		var out []any
		for _, s := range strings.Split(t, ",") {
			out = append(out, strings.TrimSpace(s))
		}
		return out, nil
	}
	return nil, fmt.Errorf("%v: want a list", v)
}

// items returns the type of a key whose value is a list without duplicates. The list has at least `least`
// items, and item is the schema of one of them. An error about an item contains the item's index.
func items[T comparable](at func(*Campaign) *[]T, least int, item schema, parse func(any) (T, error)) value {
	read := func(c *Campaign, v any) error {
		given, err := list(v)
		if err != nil {
			return err
		}
		if len(given) < least {
			return fmt.Errorf("is an empty list: want at least one")
		}
		var faults faultList
		for i, item := range given {
			value, err := parse(item)
			if err == nil && slices.Contains(*at(c), value) {
				err = fmt.Errorf("%v is given twice", item)
			}
			if err != nil {
				faults.add(fmt.Sprintf("[%d]", i), err)
			}
			*at(c) = append(*at(c), value)
		}
		return faults.err()
	}
	return value{read: read, schema: schema{"type": "array", "items": item, "uniqueItems": true, "minItems": least}}
}

func texts(at func(*Campaign) *[]string, least int, check func(string) error) value {
	return items(at, least, schema{"type": "string"}, func(item any) (string, error) {
		s, ok := item.(string)
		if !ok {
			return "", fmt.Errorf("%v: want text", item)
		}
		return s, check(s)
	})
}

// choices returns the type of a key whose value is a list of allowed words.
func choices(at func(*Campaign) *[]string, least int, allowed ...string) value {
	v := texts(at, least, func(s string) error {
		if !slices.Contains(allowed, s) {
			return NotOneOf(s, allowed)
		}
		return nil
	})
	v.schema["items"], v.words = schema{"enum": allowed}, allowed
	return v
}

func wholes(at func(*Campaign) *[]int) value {
	return items(at, 0, schema{"type": "integer", "minimum": 1, "maximum": 1 << 24}, func(item any) (int, error) {
		n, err := toWhole(item, 1, 1<<24)
		return int(n), err
	})
}

// sizeSchema returns the schema of a number of bytes, with or without a unit.
func sizeSchema() schema {
	return schema{"type": []string{"integer", "string"}, "pattern": "^[0-9]+ *[A-Za-z]*$", "minimum": 0}
}

func sizes(at func(*Campaign) *[]int64) value {
	return items(at, 0, sizeSchema(), func(item any) (int64, error) { return coll.ParseBytes(fmt.Sprint(item)) })
}

func size(at func(*Campaign) *int64) value {
	read := func(c *Campaign, v any) (err error) {
		*at(c), err = coll.ParseBytes(fmt.Sprint(v))
		return err
	}
	return value{read: read, schema: sizeSchema()}
}
