package token_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"tutti/service/token"
)

func Example() {
	folder, err := os.MkdirTemp("", "tokens")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	store, err := token.Open(filepath.Join(folder, "tokens.json"))
	if err != nil {
		log.Fatal(err)
	}
	secret, err := store.Create("grafana", token.Read)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(store.Check(secret))
	// Output: grafana false true
}

func ExampleStore_Revoke() {
	folder, err := os.MkdirTemp("", "tokens")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	store, err := token.Open(filepath.Join(folder, "tokens.json"))
	if err != nil {
		log.Fatal(err)
	}
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
