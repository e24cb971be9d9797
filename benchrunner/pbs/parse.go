package pbs

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// object has the attributes of a job, queue, server or node, by name. An attribute of a group is named as in
// Resource_List.nodect.
type object map[string]string

// parseJSON reads the objects in a group of an answer, such as Jobs. A value has any type: PBS prints a name
// that looks like a number as a number.
func parseJSON(text, group string) (map[string]object, error) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var answer map[string]any
	if err := d.Decode(&answer); err != nil {
		return nil, err
	}
	members, ok := answer[group].(map[string]any)
	if !ok && answer[group] != nil {
		return nil, fmt.Errorf("%s: want an object", group)
	}
	out := map[string]object{}
	for id, value := range members {
		if attributes, ok := value.(map[string]any); ok {
			out[id] = object{}
			out[id].flatten("", attributes)
		}
	}
	return out, nil
}

func (o object) flatten(prefix string, attributes map[string]any) {
	for name, value := range attributes {
		if below, ok := value.(map[string]any); ok {
			o.flatten(prefix+name+".", below)
			continue
		}
		o[prefix+name] = fmt.Sprint(value)
	}
}

// parseText reads the text form of an answer. A line at the margin begins an object; a line that begins with a
// tab continues the value before it.
func parseText(text string) map[string]object {
	out := map[string]object{}
	var current object
	last := ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		switch {
		case strings.TrimSpace(line) == "":
		case line[0] == '\t' && last != "":
			current[last] += strings.TrimPrefix(line, "\t")
		case line[0] != ' ' && line[0] != '\t':
			id := line
			for _, title := range []string{"Job Id: ", "Queue: ", "Server: "} {
				id = strings.TrimPrefix(id, title)
			}
			current, last = object{}, ""
			out[strings.TrimSpace(id)] = current
		case current != nil:
			if name, value, ok := strings.Cut(strings.TrimSpace(line), " = "); ok {
				current[name], last = value, name
			}
		}
	}
	return out
}

// parseTime reads a time as ctime(3) prints it, in UTC. For another text it returns the zero time.
func parseTime(text string) time.Time {
	t, _ := time.Parse(time.ANSIC, strings.TrimSpace(text))
	return t
}

// parseDuration reads seconds, minutes:seconds or hours:minutes:seconds.
func parseDuration(text string) (time.Duration, error) {
	parts := strings.Split(text, ":")
	total := 0
	for _, p := range parts {
		n, err := strconv.ParseUint(p, 10, 31)
		if err != nil || len(parts) > 3 {
			return 0, fmt.Errorf("%q: want hours:minutes:seconds", text)
		}
		total = total*60 + int(n)
	}
	return time.Duration(total) * time.Second, nil
}

var units = map[string]int64{"": 1, "b": 1, "kb": 1 << 10, "mb": 1 << 20, "gb": 1 << 30, "tb": 1 << 40}

var errSize = errors.New("want a size such as 24683652kb")

// parseSize reads a size such as 24683652kb, in bytes.
func parseSize(text string) (int64, error) {
	digits := strings.TrimRight(text, "kmgtbKMGTB")
	n, err := strconv.ParseInt(digits, 10, 50)
	unit, ok := units[strings.ToLower(text[len(digits):])]
	if err != nil || !ok || n < 0 || n > (1<<62)/unit {
		return 0, fmt.Errorf("%q: %w", text, errSize)
	}
	return n * unit, nil
}
