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

// The readers below take what viper has: a value typed by YAML, or text from a
// variable or a flag.

type reader = func(c *Campaign, v any) error

func text(at func(*Campaign) *string, check func(string) error) reader {
	return func(c *Campaign, v any) error {
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
}

func whole(at func(*Campaign) *int, low, high int) reader {
	return func(c *Campaign, v any) error {
		n, err := toWhole(v, int64(low), int64(high))
		if err == nil {
			*at(c) = int(n)
		}
		return err
	}
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

func number(at func(*Campaign) *float64, low, high float64) reader {
	return func(c *Campaign, v any) error {
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
}

func boolean(at func(*Campaign) *bool) reader {
	return func(c *Campaign, v any) error {
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
}

func duration(at func(*Campaign) *time.Duration) reader {
	return func(c *Campaign, v any) error {
		s, ok := v.(string)
		d, err := time.ParseDuration(s)
		if !ok || err != nil || d < 0 {
			return fmt.Errorf("%v: want a duration with a unit, for example 90s, 15m or 2h30m", v)
		}
		*at(c) = d
		return nil
	}
}

// list splits text from a variable or flag at commas.
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

// items reads a list of at least so many values, none twice; every fault has the
// index of its item.
func items[T comparable](at func(*Campaign) *[]T, least int, parse func(any) (T, error)) reader {
	return func(c *Campaign, v any) error {
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
}

func texts(at func(*Campaign) *[]string, least int, check func(string) error) reader {
	return items(at, least, func(item any) (string, error) {
		s, ok := item.(string)
		if !ok {
			return "", fmt.Errorf("%v: want text", item)
		}
		return s, check(s)
	})
}

func wholes(at func(*Campaign) *[]int) reader {
	return items(at, 0, func(item any) (int, error) {
		n, err := toWhole(item, 1, 1<<24)
		return int(n), err
	})
}

func sizes(at func(*Campaign) *[]int64) reader {
	return items(at, 0, func(item any) (int64, error) { return coll.ParseBytes(fmt.Sprint(item)) })
}

// size reads one.
func size(at func(*Campaign) *int64) reader {
	return func(c *Campaign, v any) (err error) {
		*at(c), err = coll.ParseBytes(fmt.Sprint(v))
		return err
	}
}
