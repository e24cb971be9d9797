package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"

	"tutti/service"
	"tutti/service/client"
)

func Example() {
	// Stands for a tutti serve.
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, "id: 1\nevent: header\ndata: {}\n\nid: 2\nevent: stop\ndata: {\"stop\":\"converged\"}\n\nevent: end\ndata: {\"seq\":2}\n\n")
	}))
	defer server.Close()
	c, err := client.New(server.URL, client.Options{})
	if err != nil {
		log.Fatal(err)
	}
	err = c.Watch(context.Background(), "3k9f2m7q", 0, func(e service.Event) error {
		fmt.Println(e.Seq, e.Type, string(e.Data))
		return nil
	})
	fmt.Println(err)
	// Output:
	// 1 header {}
	// 2 stop {"stop":"converged"}
	// <nil>
}

func ExampleClient_Create() {
	// Stands for a tutti serve.
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Println(r.Method, r.URL.Path, r.Header.Get("Idempotency-Key"))
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(http.StatusUnprocessableEntity)
		io.WriteString(w, `{"detail":"the request was refused","errors":[{"location":"body.set.stop.slowdown","message":"want a number above 1"}]}`)
	}))
	defer server.Close()
	c, err := client.New(server.URL, client.Options{Token: "tutti_..."})
	if err != nil {
		log.Fatal(err)
	}
	_, err = c.Create(context.Background(), service.Request{Base: "night", Set: map[string]string{"stop.slowdown": "fast"}}, "monday")
	var refused *client.Error
	fmt.Println(errors.As(err, &refused), err)
	// Output:
	// POST /api/v1/campaigns monday
	// true the request was refused: body.set.stop.slowdown: want a number above 1
}
