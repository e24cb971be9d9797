package api_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"

	"tutti/service/api"
)

func Example() {
	a, err := api.New(newFake(), api.Options{Version: "1.2.3"})
	if err != nil {
		log.Fatal(err)
	}
	server := httptest.NewServer(a)
	defer server.Close()
	resp, err := http.Get(server.URL + "/api/v1/version")
	if err != nil {
		log.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	fmt.Print(string(answer), err)
	// Output:
	// {"version":"1.2.3","api":"v1"}
	// <nil>
}

func ExampleAPI_Serve() {
	a, err := api.New(newFake(), api.Options{Version: "1.2.3"})
	if err != nil {
		log.Fatal(err)
	}
	l, err := api.Listen("127.0.0.1:0", api.ListenOptions{})
	if err != nil {
		log.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error)
	go func() { served <- a.Serve(ctx, l) }()
	resp, err := http.Get("http://" + l.Addr().String() + "/healthz")
	if err != nil {
		log.Fatal(err)
	}
	resp.Body.Close()
	stop()
	fmt.Println(resp.Status, <-served)
	// Output: 200 OK <nil>
}
