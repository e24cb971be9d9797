// Package token keeps the tokens that open the service: random secrets, of which
// only the hashes are on disk.
//
//	store, err := token.Open("results/tokens.json")
//	secret, err := store.Create("grafana", token.Read) // shown once, then nobody knows it
//	name, operate, ok := store.Check(secret)
package token
