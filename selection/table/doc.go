// Package table writes a selection as JSON for people and their scripts, reads it
// back and replays it: the points with what was selected and predicted there, and
// the trees that say what is selected between them.
//
//	doc := table.Document{Campaign: "demo", Libraries: libraries}
//	text, err := doc.Bytes()
//	if err != nil {
//		return err
//	}
//	back, err := table.Parse(text)
//	if err != nil {
//		return err
//	}
//	fmt.Println(back.Libraries[0].Collectives[0].Points[0].Algorithm)
//
// Every point carries the size that its library's rules compare, so that a reader
// can ask a tree without knowing the library.
package table
