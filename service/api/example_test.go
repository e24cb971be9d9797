package api_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/netip"

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

func ExampleListen() {
	_, err := api.Listen("0.0.0.0:8372", api.Security{Tokens: true})
	fmt.Println(errors.Is(err, api.ErrOpen), err)
	// Output: true listen 0.0.0.0:8372: any address but loopback and Unix sockets needs TLS and tokens: TLS is missing
}

func ExampleAPI_Serve() {
	a, err := api.New(newFake(), api.Options{Version: "1.2.3"})
	if err != nil {
		log.Fatal(err)
	}
	l, err := api.Listen("127.0.0.1:0", api.Security{})
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

// Behind a proxy on this machine each client has a rate of its own.
func ExampleProxies() {
	a, err := api.New(newFake(), api.Options{
		Proxies: api.Proxies{Trusted: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}},
		Limits:  api.Limits{Rate: 0.1, Burst: 1},
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, client := range []string{"192.0.2.1", "192.0.2.1", "192.0.2.2"} {
		r := httptest.NewRequest("GET", "/api/v1/version", nil)
		r.RemoteAddr = "127.0.0.1:4711"
		r.Header.Set("X-Forwarded-For", client)
		w := httptest.NewRecorder()
		a.ServeHTTP(w, r)
		fmt.Println(client, w.Code)
	}
	// Output:
	// 192.0.2.1 200
	// 192.0.2.1 429
	// 192.0.2.2 200
}
