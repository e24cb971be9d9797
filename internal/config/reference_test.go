package config

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"tutti/internal/testutil"
)

// TestReference checks that the document that lists all keys is current.
func TestReference(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Configuration keys\n\n" +
		"Generated from the field table: `go test ./internal/config -run Reference -update`.\n" +
		"Editors read [campaign.schema.json](../../configs/campaign.schema.json) and\n" +
		"[service.schema.json](../../configs/service.schema.json).\n\n" +
		"## Campaign files\n\n" +
		"Relative paths are relative to the folder of the file. Above the file lie environment\n" +
		"variables (`TUTTI_STOP_SLOWDOWN=1.02`), above these the flags of `tutti tune` (`--set\n" +
		"stop.slowdown=1.02`). Any key that the file and these leave out is taken from the site\n" +
		"profile, if the file names one, or else has its default.\n\n")
	writeKeys(&b, fields(&Campaign{}))
	b.WriteString("\n## Service files\n\n")
	writeKeys(&b, serviceFields(&Service{}, ""))
	testutil.CheckGolden(t, "../../../docs/reference/configuration.md", []byte(b.String()))
}

// writeKeys writes the rows of a Markdown table that describes keys.
func writeKeys(b *strings.Builder, all []field) {
	b.WriteString("| key | default | meaning |\n|---|---|---|\n")
	for _, f := range all {
		initial := "required"
		if f.initial != nil {
			text, _ := json.Marshal(f.initial)
			initial = "`" + string(text) + "`"
		}
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", f.key, initial, strings.ReplaceAll(f.doc, "|", "\\|"))
	}
}

// TestSchema checks that the files with the JSON schemas are current.
func TestSchema(t *testing.T) {
	for name, all := range map[string][]field{"campaign": fields(&Campaign{}), "service": serviceFields(&Service{}, "")} {
		schema := sectionSchema(all, "")
		schema["$schema"], schema["title"] = "https://json-schema.org/draft/2020-12/schema", "tutti "+name+" file"
		text := testutil.Must(json.MarshalIndent(schema, "", "  "))(t)
		testutil.CheckGolden(t, "../../../configs/"+name+".schema.json", append(text, '\n'))
	}
}
