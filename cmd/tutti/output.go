package main

import (
	"encoding/json"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// printJSON prints v for a script, indented so that people can read it, too.
func (a *app) printJSON(v any) error {
	e := json.NewEncoder(a.stdout)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// printTable prints rows under a header in the style of all tables.
func (a *app) printTable(header table.Row, rows []table.Row) {
	t := table.NewWriter()
	t.SetOutputMirror(a.stdout)
	t.SetStyle(table.StyleLight)
	t.Style().Format.Header = text.FormatDefault
	t.AppendHeader(header)
	t.AppendRows(rows)
	t.Render()
}
