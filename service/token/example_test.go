package token_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"tutti/service/token"
)

// temporary is a store in a folder of its own, and what removes it.
func temporary() (s *token.Store, remove func()) {
	folder, err := os.MkdirTemp("", "tokens")
	if err != nil {
		log.Fatal(err)
	}
	s, err = token.Open(filepath.Join(folder, "tokens.json"))
	if err != nil {
		log.Fatal(err)
	}
	return s, func() { os.RemoveAll(folder) }
}

func Example() {
	store, remove := temporary()
	defer remove()
	secret, err := store.Create("grafana", token.Read)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(store.Check(secret))
	// Output: grafana false true
}

func ExampleStore_Revoke() {
	store, remove := temporary()
	defer remove()
	secret, err := store.Create("anna", token.Operate)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(store.Check(secret))
	fmt.Println(store.Revoke("anna"))
	fmt.Println(store.Check(secret))
	fmt.Println(store.Revoke("anna"))
	// Output:
	// anna true true
	// <nil>
	//  false false
	// token "anna": no token of this name
}
