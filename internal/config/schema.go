package config

import (
	"maps"
	"slices"
	"strings"
)

// schema is a JSON schema.
type schema map[string]any

// CampaignSchema returns the JSON schema of campaign files. Editors use it to check and complete such
// files.
func CampaignSchema() map[string]any { return fileSchema("tutti campaign file", fields(&Campaign{})) }

// ServiceSchema returns the JSON schema of service files.
func ServiceSchema() map[string]any {
	return fileSchema("tutti service file", serviceFields(&Service{}, ""))
}

// fileSchema returns the schema of a file with the given keys. A dot in a key separates a section from a
// key inside it.
func fileSchema(title string, all []field) schema {
	s := sectionSchema(all, "")
	s["$schema"], s["title"] = "https://json-schema.org/draft/2020-12/schema", title
	return s
}

// sectionSchema describes the keys of a section. The prefix is the name of the section followed by a dot,
// or empty for the whole file.
func sectionSchema(all []field, prefix string) schema {
	properties := map[string]schema{}
	var required []string
	for _, f := range all {
		rest, ok := strings.CutPrefix(f.key, prefix)
		if !ok {
			continue
		}
		if section, _, nested := strings.Cut(rest, "."); nested {
			if properties[section] == nil {
				properties[section] = sectionSchema(all, prefix+section+".")
			}
			continue
		}
		p := maps.Clone(f.value.schema)
		p["description"] = f.doc
		switch f.initial {
		case nil:
			required = append(required, rest)
		case optional:
		default:
			p["default"] = f.initial
		}
		properties[rest] = p
	}
	s := schema{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		s["required"] = slices.Sorted(slices.Values(required))
	}
	return s
}
