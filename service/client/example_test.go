package client_test

import (
	"context"
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
